-- Package spentq uses the table spent as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates spent_ready and spent_like.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=absent leaves a job out where a row is like it in hash, of those that are ready or running; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 5
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* spentq.Claim */ spent
SET    state = 'busy',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries < 5
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, hash, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 5
-- isolation: read committed
-- arguments: 1: low
UPDATE /* spentq.Claim */ spent
SET    state = 'busy',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries < 5
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, hash, tries;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 5
-- isolation: read committed
-- arguments: 1: low
UPDATE /* spentq.Claim */ spent
SET    state = 'busy',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries < 5
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, hash, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* spentq.Complete */ spent
SET    state = 'done'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* spentq.Fail */ spent
SET    state = 'new'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* spentq.Fail */ spent
SET    state = 'new'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* spentq.Requeue */ spent
SET    state = 'new',
       tries = tries - 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* spentq.Redrive */ spent
SET    tries = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries >= 5
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* spentq.Purge */ FROM spent
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   spent
           WHERE  state = 'done'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'new' AND tries >= 5 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* spentq.Purge */ FROM spent
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries >= 5
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue_gate.sql
-- enqueue: jobs that are alike in hash are added one after the other
-- locks: a number made of the table and these columns, and one of the table that producers share, until commit
-- index: none; it reads nothing
-- isolation: read committed
-- arguments: 1: new Hash
SELECT /* spentq.Enqueue */
       1
FROM   pg_advisory_xact_lock('spent'::regclass::oid::int, hashtext('enqueue ' || concat_ws(' ', $1::varchar))),
       pg_advisory_xact_lock_shared('spent'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue_alone.sql
-- enqueue: a call with more than 100 jobs adds them while no other producer adds any
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
SELECT /* spentq.EnqueueMany */
       1
FROM   pg_advisory_xact_lock('spent'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in hash, of those that are ready or running: then it adds none
-- locks: the new row, until commit
-- index: (hash) WHERE state IN ('new', 'busy')
-- isolation: read committed
-- arguments: 1: new Hash
INSERT /* spentq.Enqueue */ INTO spent
       (hash, state, tries)
SELECT $1::varchar, 'new', 0
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('rows that are alike are looked for in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END
AND    NOT EXISTS (
           SELECT 1
           FROM   spent
           WHERE  hash = $1::varchar
           AND    state IN ('new', 'busy')
           AND    (tries < 5 OR state = 'busy'))
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* spentq.Stats */
       count(*) FILTER (WHERE state = 'new' AND tries < 5) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'new' AND tries >= 5) AS failed
FROM   spent;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 5
SELECT /* spentq.Backlog */
       count(*) AS ready
FROM   spent
WHERE  state = 'new'
AND    tries < 5;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 5
-- isolation: read committed
-- arguments: 1: limit
SELECT /* spentq.Peek */
       id, hash, tries
FROM   spent
WHERE  state = 'new'
AND    tries < 5
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* spentq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* spentq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('hash', 'varchar'),
               ('state', 'varchar'),
               ('tries', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('spent')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* spentq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* spentq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('spent_ready', 'id nulls first', 'id nulls first', 'state=''new''andtries<5'),
               ('spent_like', 'hash', 'hash', 'statein''new'',''busy''')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('spent')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY spent_ready ON spent (id NULLS FIRST)
WHERE  state = 'new'
AND    tries < 5;

-- serves Enqueue: the rows that are like a new job
CREATE INDEX CONCURRENTLY spent_like ON spent (hash)
WHERE  state IN ('new', 'busy');
