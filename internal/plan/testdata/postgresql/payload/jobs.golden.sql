-- Package jobsq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE status = 'ready'
-- isolation: read committed
-- arguments: 1: token Token, 2: low, 3: limit
UPDATE /* jobsq.Claim */ jobs
SET    status = 'running',
       token = $1,
       lease_till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  status = 'ready'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, token, lease_till, body_id;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE status = 'ready'
-- isolation: read committed
-- arguments: 1: token Token, 2: low
UPDATE /* jobsq.Claim */ jobs
SET    status = 'running',
       token = $1,
       lease_till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  status = 'ready'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, token, lease_till, body_id;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE status = 'ready'
-- isolation: read committed
-- arguments: 1: token Token, 2: low
UPDATE /* jobsq.Claim */ jobs
SET    status = 'running',
       token = $1,
       lease_till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  status = 'ready'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, token, lease_till, body_id;

-- sql/payload.sql
-- payload: what claimed jobs have in app.bodies, heads
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* jobsq.Payload */
       jobs.id, b.body, b.status, b.raw, b.made, job.subject
FROM   jobs
       LEFT JOIN app.bodies b
       ON  (b.id = jobs.body_id)
       LEFT JOIN heads job
       ON  (job.body_id = jobs.body_id)
WHERE  jobs.id = ANY ($1::bigint[]);

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* jobsq.Complete */ jobs
SET    status = 'done',
       lease_till = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* jobsq.Fail */ jobs
SET    status = 'failed',
       lease_till = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* jobsq.Requeue */ jobs
SET    status = 'ready',
       token = NULL,
       lease_till = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* jobsq.Extend */ jobs
SET    lease_till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    status = 'running' THEN true END
RETURNING id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (lease_till) WHERE status = 'running'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    status = 'ready',
       token = NULL,
       lease_till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  status = 'running'
           AND    lease_till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    status = 'ready',
       token = NULL,
       lease_till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  status = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE status = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  status = 'done'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE status = 'failed' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  status = 'failed'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new BodyID
INSERT /* jobsq.Enqueue */ INTO jobs
       (body_id)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch BodyID
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (body_id)
SELECT body_id_new
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (body_id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE status = 'ready') AS ready,
       count(*) FILTER (WHERE status = 'running') AS running,
       count(*) FILTER (WHERE status = 'done') AS done,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'running' AND lease_till <= now()) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE status = 'ready'
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE status = 'ready'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, body_id
FROM   jobs
WHERE  status = 'ready'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('status', 'varchar'),
               ('token', 'varchar'),
               ('lease_till', 'timestamptz'),
               ('body_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload.sql
-- verify: columns of app.bodies
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('body', 'jsonb'),
               ('status', 'varchar'),
               ('raw', 'bytea'),
               ('made', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('app.bodies')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload2.sql
-- verify: columns of heads
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('subject', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('heads')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* jobsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_ready', 'id nulls first', 'id nulls first', 'status=''ready'''),
               ('jobs_expired', 'lease_till', 'lease_till', 'status=''running''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY jobs_ready ON jobs (id NULLS FIRST)
WHERE  status = 'ready';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY jobs_expired ON jobs (lease_till)
WHERE  status = 'running';
