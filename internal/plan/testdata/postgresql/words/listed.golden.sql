-- Package listedq uses the table held as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until Recover, which goes by the workers that are alive, makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates held_ready and held_expired.
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
-- note: qgen.yaml says what worker of column "holder" is; the comment at schema.sql:46:27 is not used
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low, 3: limit
UPDATE /* listedq.Claim */ held
SET    state = 'A',
       tries = tries + 1,
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, tries, holder;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* listedq.Claim */ held
SET    state = 'A',
       tries = tries + 1,
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, tries, holder;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* listedq.Claim */ held
SET    state = 'A',
       tries = tries + 1,
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, tries, holder;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* listedq.Complete */ held
SET    state = 'D'
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* listedq.Fail */ held
SET    state = 'N',
       holder = NULL
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* listedq.Fail */ held
SET    state = 'E'
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* listedq.Requeue */ held
SET    state = 'N',
       tries = tries - 1,
       holder = NULL
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (holder) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: param alive []string, 2: limit
UPDATE /* listedq.Recover */ held
SET    state = 'N',
       holder = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'A'
           AND    tries < 3
           AND    (holder IS NOT NULL AND holder <> ALL ($1::text[]))
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (holder) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: param alive []string, 2: limit
UPDATE /* listedq.Recover */ held
SET    state = 'E'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'A'
           AND    tries >= 3
           AND    (holder IS NOT NULL AND holder <> ALL ($1::text[]))
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* listedq.Redrive */ held
SET    state = 'N',
       tries = 0,
       holder = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'E'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* listedq.Purge */ FROM held
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'D'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'E' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* listedq.Purge */ FROM held
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 'E'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* listedq.Enqueue */ INTO held
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* listedq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed
FROM   held;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
SELECT /* listedq.Backlog */
       count(*) AS ready
FROM   held
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* listedq.Peek */
       id, tries
FROM   held
WHERE  state = 'N'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* listedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* listedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('tries', 'integer'),
               ('holder', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('held')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* listedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* listedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('held_ready', 'id nulls first', 'id nulls first', 'state=''n'''),
               ('held_expired', 'holder', 'holder', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('held')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- heldq advises the same
CREATE INDEX CONCURRENTLY held_ready ON held (id NULLS FIRST)
WHERE  state = 'N';

-- serves Recover: claims that ran out
-- heldq advises the same
CREATE INDEX CONCURRENTLY held_expired ON held (holder)
WHERE  state = 'A';
