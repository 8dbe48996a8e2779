-- Package newer uses the table urls as a queue of jobs on YugabyteDB 2025.2.1 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates urls_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     YugabyteDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in url (unique key urls_url_key): state = 'new', priority = {priority} unless nil
-- note: warning: enqueue=update takes a job that runs from its worker, since qgen:on update writes column state: it may be claimed again while the first still has it
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Worker, 2: limit
UPDATE /* newer.Claim */ urls
SET    state = 'busy',
       worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   urls
           WHERE  state = 'new'
           ORDER  BY priority DESC, id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, url, worker, priority;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Worker
UPDATE /* newer.Claim */ urls
SET    state = 'busy',
       worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   urls
           WHERE  state = 'new'
           ORDER  BY priority DESC, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, url, worker, priority;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Worker
UPDATE /* newer.Claim */ urls
SET    state = 'busy',
       worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   urls
           WHERE  state = 'new'
           ORDER  BY priority DESC, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, url, worker, priority;

-- sql/complete.sql
-- complete: running to done
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* newer.Complete */ urls
SET    state = 'done'
FROM   unnest($1::uuid[], $2::text[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* newer.Fail */ urls
SET    state = 'new',
       worker = NULL
FROM   unnest($1::uuid[], $2::text[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* newer.Requeue */ urls
SET    state = 'new',
       worker = NULL
FROM   unnest($1::uuid[], $2::text[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* newer.Purge */ FROM urls
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   urls
           WHERE  state = 'done'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in url (unique key urls_url_key)
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new ID, 2: new URL, 3: new Priority
INSERT /* newer.Enqueue */ INTO urls
       (id, url, priority)
VALUES (coalesce($1::uuid, gen_random_uuid()), $2, coalesce($3::integer, 0))
ON     CONFLICT (url) DO UPDATE
SET    state = 'new',
       priority = coalesce($3::integer, urls.priority)
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* newer.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done
FROM   urls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (priority DESC, id) WHERE state = 'new'
SELECT /* newer.Backlog */
       count(*) AS ready
FROM   urls
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority DESC, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* newer.Peek */
       id, url, priority
FROM   urls
WHERE  state = 'new'
ORDER  BY priority DESC, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* newer.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2025.2.1'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* newer.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'uuid'),
               ('url', 'text'),
               ('state', 'text'),
               ('worker', 'text'),
               ('priority', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('urls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* newer.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* newer.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('urls_ready', 'priority desc, id', 'priority desc, id', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('urls')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- urlsq advises the same
CREATE INDEX urls_ready ON urls (priority DESC, id ASC)
WHERE  state = 'new';
