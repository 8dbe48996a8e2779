-- Package actionsq uses the table actions as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates actions_ready.
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
-- note: on fail, column "end_time" gets [date_trunc('second', {now})] as qgen:on says, not now as qgen:finished would
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'ready'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* actionsq.Claim */ actions
SET    state = 'running',
       start_time = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'ready'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, start_time;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'ready'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* actionsq.Claim */ actions
SET    state = 'running',
       start_time = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'ready'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, start_time;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'ready'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* actionsq.Claim */ actions
SET    state = 'running',
       start_time = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'ready'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, start_time;

-- sql/complete.sql
-- complete: running to done
-- fence: start_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch StartTime
UPDATE /* actionsq.Complete */ actions
SET    state = 'done',
       end_time = (now() AT TIME ZONE 'UTC')
FROM   unnest($1::bigint[], $2::timestamp[]) AS job (id_held, start_time_held)
WHERE  id = id_held
AND    CASE WHEN start_time = start_time_held
            AND    state = 'running' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: start_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch StartTime
UPDATE /* actionsq.Fail */ actions
SET    state = 'failed',
       end_time = (date_trunc('second', (now() AT TIME ZONE 'UTC')))
FROM   unnest($1::bigint[], $2::timestamp[]) AS job (id_held, start_time_held)
WHERE  id = id_held
AND    CASE WHEN start_time = start_time_held
            AND    state = 'running' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: start_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch StartTime
UPDATE /* actionsq.Requeue */ actions
SET    state = 'ready',
       start_time = NULL
FROM   unnest($1::bigint[], $2::timestamp[]) AS job (id_held, start_time_held)
WHERE  id = id_held
AND    CASE WHEN start_time = start_time_held
            AND    state = 'running' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* actionsq.Redrive */ actions
SET    state = 'ready',
       start_time = NULL,
       end_time = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (end_time) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ FROM actions
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'done'
           AND    end_time <= (now() AT TIME ZONE 'UTC') - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (end_time) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ FROM actions
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'failed'
           AND    end_time <= (now() AT TIME ZONE 'UTC') - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* actionsq.Enqueue */ INTO actions
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* actionsq.Stats */
       count(*) FILTER (WHERE state = 'ready') AS ready,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       extract(epoch FROM (now() AT TIME ZONE 'UTC') - min(start_time) FILTER (WHERE state = 'running')) AS oldest_running,
       avg(extract(epoch FROM end_time - start_time)) FILTER (WHERE state = 'done') AS mean_run
FROM   actions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'ready'
SELECT /* actionsq.Backlog */
       count(*) AS ready
FROM   actions
WHERE  state = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'ready'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* actionsq.Peek */
       id
FROM   actions
WHERE  state = 'ready'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* actionsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* actionsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('start_time', 'timestamp'),
               ('end_time', 'timestamp')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('actions')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* actionsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* actionsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('actions_ready', 'id nulls first', 'id nulls first', 'state=''ready''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('actions')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY actions_ready ON actions (id NULLS FIRST)
WHERE  state = 'ready';
