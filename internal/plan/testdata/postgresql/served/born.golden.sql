-- Package bornq uses the table born as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates born_ready and born_expired.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: the fence is the status, and two claims of one worker look alike: with qgen:claimed at column "last_ping" beside heartbeat the time there is the fence, which Extend writes as before
-- note: warning: a running row whose last_ping is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE worker IS NULL
-- isolation: read committed
-- arguments: 1: worker Worker, 2: low, 3: limit
UPDATE /* bornq.Claim */ born
SET    worker = $1,
       last_ping = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   born
           WHERE  worker IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, worker;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE worker IS NULL
-- isolation: read committed
-- arguments: 1: worker Worker, 2: low
UPDATE /* bornq.Claim */ born
SET    worker = $1,
       last_ping = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   born
           WHERE  worker IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, worker;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE worker IS NULL
-- isolation: read committed
-- arguments: 1: worker Worker, 2: low
UPDATE /* bornq.Claim */ born
SET    worker = $1,
       last_ping = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   born
           WHERE  worker IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, worker;

-- sql/complete.sql
-- complete: running to done
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
DELETE /* bornq.Complete */ FROM born
USING  unnest($1::bigint[], $2::integer[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    worker IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* bornq.Fail */ born
SET    worker = NULL,
       last_ping = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    worker IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* bornq.Requeue */ born
SET    worker = NULL,
       last_ping = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    worker IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* bornq.Extend */ born
SET    last_ping = now()
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    worker IS NOT NULL THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (last_ping) WHERE worker IS NOT NULL
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* bornq.Recover */ born
SET    worker = NULL,
       last_ping = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   born
           WHERE  worker IS NOT NULL
           AND    last_ping <= now() - interval '9 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* bornq.Enqueue */ INTO born
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* bornq.Stats */
       count(*) FILTER (WHERE worker IS NULL) AS ready,
       count(*) FILTER (WHERE worker IS NOT NULL) AS running,
       count(*) FILTER (WHERE worker IS NOT NULL AND last_ping <= now() - interval '9 minutes') AS expired
FROM   born;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE worker IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* bornq.Peek */
       id
FROM   born
WHERE  worker IS NULL
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* bornq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* bornq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('worker', 'integer'),
               ('last_ping', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('born')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* bornq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* bornq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('born_ready', 'id nulls first', 'id nulls first', 'workerisnull'),
               ('born_expired', 'last_ping', 'last_ping', 'workerisnotnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('born')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY born_ready ON born (id NULLS FIRST)
WHERE  worker IS NULL;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY born_expired ON born (last_ping)
WHERE  worker IS NOT NULL;
