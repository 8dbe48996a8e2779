-- Package wikiq uses the table {{.Prefix}}job as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "job_token_timestamp" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "job_id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: job_cmd_id (job_cmd, job_id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: token JobToken, 2: param jobCmd string, 3: limit
UPDATE /* wikiq.Claim */ "{{.Prefix}}job"
SET    job_token = $1,
       job_token_timestamp = now(),
       job_attempts = job_attempts + 1
WHERE  job_id = ANY (ARRAY(
           SELECT job_id
           FROM   "{{.Prefix}}job"
           WHERE  CASE WHEN job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL THEN true END
           AND    job_attempts < 3
           AND    job_cmd = $2
           ORDER  BY job_id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING job_id, job_cmd, job_params, job_token, job_token_timestamp, job_attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: job_cmd_id (job_cmd, job_id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: token JobToken, 2: param jobCmd string
UPDATE /* wikiq.Claim */ "{{.Prefix}}job"
SET    job_token = $1,
       job_token_timestamp = now(),
       job_attempts = job_attempts + 1
WHERE  job_id = ANY (ARRAY(
           SELECT job_id
           FROM   "{{.Prefix}}job"
           WHERE  CASE WHEN job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL THEN true END
           AND    job_attempts < 3
           AND    job_cmd = $2
           ORDER  BY job_id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING job_id, job_cmd, job_params, job_token, job_token_timestamp, job_attempts;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: job_cmd_id (job_cmd, job_id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: token JobToken, 2: param jobCmd string
UPDATE /* wikiq.Claim */ "{{.Prefix}}job"
SET    job_token = $1,
       job_token_timestamp = now(),
       job_attempts = job_attempts + 1
WHERE  job_id = ANY (ARRAY(
           SELECT job_id
           FROM   "{{.Prefix}}job"
           WHERE  CASE WHEN job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL THEN true END
           AND    job_attempts < 3
           AND    job_cmd = $2
           ORDER  BY job_id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING job_id, job_cmd, job_params, job_token, job_token_timestamp, job_attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch JobID, 2: batch JobToken
DELETE /* wikiq.Complete */ FROM "{{.Prefix}}job"
USING  unnest($1::bigint[], $2::varchar[]) AS job_rows (job_id_held, job_token_held)
WHERE  job_id = job_id_held
AND    CASE WHEN job_token = job_token_held
            AND    job_token_timestamp IS NOT NULL THEN true END
RETURNING job_id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch JobID, 2: batch JobToken
UPDATE /* wikiq.Fail */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job_rows (job_id_held, job_token_held)
WHERE  job_id = job_id_held
AND    CASE WHEN job_token = job_token_held
            AND    job_token_timestamp IS NOT NULL THEN true END
RETURNING job_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch JobID, 2: batch JobToken
UPDATE /* wikiq.Fail */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job_rows (job_id_held, job_token_held)
WHERE  job_id = job_id_held
AND    CASE WHEN job_token = job_token_held
            AND    job_token_timestamp IS NOT NULL THEN true END
RETURNING job_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch JobID, 2: batch JobToken
UPDATE /* wikiq.Requeue */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = job_attempts - 1
FROM   unnest($1::bigint[], $2::varchar[]) AS job_rows (job_id_held, job_token_held)
WHERE  job_id = job_id_held
AND    CASE WHEN job_token = job_token_held
            AND    job_token_timestamp IS NOT NULL THEN true END
RETURNING job_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch JobID, 2: batch JobToken
UPDATE /* wikiq.Extend */ "{{.Prefix}}job"
SET    job_token_timestamp = now()
FROM   unnest($1::bigint[], $2::varchar[]) AS job_rows (job_id_held, job_token_held)
WHERE  job_id = job_id_held
AND    CASE WHEN job_token = job_token_held
            AND    job_token_timestamp IS NOT NULL THEN true END
RETURNING job_id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* wikiq.Redrive */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = 0
WHERE  job_id = ANY (ARRAY(
           SELECT job_id
           FROM   "{{.Prefix}}job"
           WHERE  (job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL)
           AND    job_attempts >= 3
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (job_token_timestamp) WHERE job_attempts >= 3 would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* wikiq.Purge */ FROM "{{.Prefix}}job"
WHERE  job_id = ANY (ARRAY(
           SELECT job_id
           FROM   "{{.Prefix}}job"
           WHERE  (job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL)
           AND    job_attempts >= 3
           AND    job_token_timestamp <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobCmd, 2: new JobParams
INSERT /* wikiq.Enqueue */ INTO "{{.Prefix}}job"
       (job_cmd, job_params, job_attempts)
VALUES ($1, $2, 0)
RETURNING job_id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch JobCmd, 2: new_batch JobParams
INSERT /* wikiq.EnqueueMany */ INTO "{{.Prefix}}job"
       (job_cmd, job_params, job_attempts)
SELECT job_cmd_new, job_params_new, 0
FROM   unnest($1::varchar[], $2::bytea[]) WITH ORDINALITY AS job (job_cmd_new, job_params_new, job_order)
ORDER  BY job_order
RETURNING job_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Stats */
       count(*) FILTER (WHERE (job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL) AND job_attempts < 3) AS ready,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > now() - interval '1 hour') AS running,
       count(*) FILTER (WHERE (job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL) AND job_attempts >= 3) AS failed,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(job_token_timestamp) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > now() - interval '1 hour')) AS oldest_running
FROM   "{{.Prefix}}job";

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job_cmd is for
-- locks: none
-- index: job_cmd_id (job_cmd, job_id)
-- arguments: 1: param jobCmd string
SELECT /* wikiq.StatsOf */
       count(*) FILTER (WHERE (job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL) AND job_attempts < 3) AS ready,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > now() - interval '1 hour') AS running,
       count(*) FILTER (WHERE (job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL) AND job_attempts >= 3) AS failed,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(job_token_timestamp) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > now() - interval '1 hour')) AS oldest_running
FROM   "{{.Prefix}}job"
WHERE  job_cmd = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job_cmd
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Backlog */
       job_cmd,
       count(*) AS ready
FROM   "{{.Prefix}}job"
WHERE  (job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL)
AND    job_attempts < 3
GROUP  BY job_cmd
ORDER  BY job_cmd;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: job_cmd_id (job_cmd, job_id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: param jobCmd string, 2: limit
SELECT /* wikiq.Peek */
       job_id, job_cmd, job_params, job_attempts
FROM   "{{.Prefix}}job"
WHERE  CASE WHEN job_token_timestamp <= now() - interval '1 hour' OR job_token_timestamp IS NULL THEN true END
AND    job_attempts < 3
AND    job_cmd = $1
ORDER  BY job_id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* wikiq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* wikiq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('job_id', 'bigint'),
               ('job_cmd', 'varchar'),
               ('job_params', 'bytea'),
               ('job_token', 'varchar'),
               ('job_token_timestamp', 'timestamptz'),
               ('job_attempts', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('"{{.Prefix}}job"')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* wikiq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* wikiq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('job_cmd_id', 'job_cmd, job_id', 'job_cmd, job_id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('"{{.Prefix}}job"')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; those whose tries are spent are few, and are read and passed over: job_cmd_id serves already
