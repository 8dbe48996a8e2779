-- Package wikiq uses the table {{.Prefix}}job as a queue of jobs on SQLite 3.38 and later.
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
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "job_token_timestamp" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "job_id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: job_cmd_id (job_cmd, job_id)
-- arguments: 1: token JobToken, 2: param jobCmd string, 3: limit
UPDATE /* wikiq.Claim */ "{{.Prefix}}job"
SET    job_token = ?1,
       job_token_timestamp = unixepoch(),
       job_attempts = job_attempts + 1
WHERE  job_id IN (
           SELECT job_id
           FROM   "{{.Prefix}}job" INDEXED BY job_cmd_id
           WHERE  (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL)
           AND    job_attempts < 3
           AND    job_cmd = ?2
           ORDER  BY job_id
           LIMIT  ?3)
RETURNING job_id, job_cmd, job_params, job_token, job_token_timestamp, job_attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: job_cmd_id (job_cmd, job_id)
-- arguments: 1: token JobToken, 2: param jobCmd string
UPDATE /* wikiq.Claim */ "{{.Prefix}}job"
SET    job_token = ?1,
       job_token_timestamp = unixepoch(),
       job_attempts = job_attempts + 1
WHERE  job_id = (
           SELECT job_id
           FROM   "{{.Prefix}}job" INDEXED BY job_cmd_id
           WHERE  (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL)
           AND    job_attempts < 3
           AND    job_cmd = ?2
           ORDER  BY job_id
           LIMIT  1)
RETURNING job_id, job_cmd, job_params, job_token, job_token_timestamp, job_attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: job_token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all JobID JobToken
DELETE /* wikiq.Complete */ FROM "{{.Prefix}}job"
WHERE  (job_id, job_token) IN (
           SELECT json_extract(value, '$[0]') AS job_id_held,
                  json_extract(value, '$[1]') AS job_token_held
           FROM   json_each(?1))
AND    +(job_token_timestamp IS NOT NULL)
RETURNING job_id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: job_token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Fail */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS job_id_held,
                  json_extract(value, '$[1]') AS job_token_held
           FROM   json_each(?1)
       ) AS job_rows
WHERE  job_id = job_id_held
AND    +(job_token = job_token_held
      AND    job_token_timestamp IS NOT NULL)
RETURNING job_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: job_token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Fail */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS job_id_held,
                  json_extract(value, '$[1]') AS job_token_held
           FROM   json_each(?1)
       ) AS job_rows
WHERE  job_id = job_id_held
AND    +(job_token = job_token_held
      AND    job_token_timestamp IS NOT NULL)
RETURNING job_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: job_token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Requeue */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = job_attempts - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS job_id_held,
                  json_extract(value, '$[1]') AS job_token_held
           FROM   json_each(?1)
       ) AS job_rows
WHERE  job_id = job_id_held
AND    +(job_token = job_token_held
      AND    job_token_timestamp IS NOT NULL)
RETURNING job_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: job_token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Extend */ "{{.Prefix}}job"
SET    job_token_timestamp = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS job_id_held,
                  json_extract(value, '$[1]') AS job_token_held
           FROM   json_each(?1)
       ) AS job_rows
WHERE  job_id = job_id_held
AND    +(job_token = job_token_held
      AND    job_token_timestamp IS NOT NULL)
RETURNING job_id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* wikiq.Redrive */ "{{.Prefix}}job"
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = 0
WHERE  job_id IN (
           SELECT job_id
           FROM   "{{.Prefix}}job"
           WHERE  (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL)
           AND    job_attempts >= 3
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (job_token_timestamp) WHERE job_attempts >= 3 would find them
-- arguments: 1: older, 2: limit
DELETE /* wikiq.Purge */ FROM "{{.Prefix}}job"
WHERE  job_id IN (
           SELECT job_id
           FROM   "{{.Prefix}}job"
           WHERE  (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL)
           AND    job_attempts >= 3
           AND    job_token_timestamp <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new JobCmd, 2: new JobParams
INSERT /* wikiq.Enqueue */ INTO "{{.Prefix}}job"
       (job_cmd, job_params, job_attempts)
VALUES (?1, ?2, 0)
RETURNING job_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Stats */
       count(*) FILTER (WHERE (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL) AND job_attempts < 3) AS ready,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > unixepoch() - 3600) AS running,
       count(*) FILTER (WHERE (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL) AND job_attempts >= 3) AS failed,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(job_token_timestamp) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > unixepoch() - 3600)) AS oldest_running
FROM   "{{.Prefix}}job";

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job_cmd is for
-- locks: none
-- index: job_cmd_id (job_cmd, job_id)
-- arguments: 1: param jobCmd string
SELECT /* wikiq.StatsOf */
       count(*) FILTER (WHERE (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL) AND job_attempts < 3) AS ready,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > unixepoch() - 3600) AS running,
       count(*) FILTER (WHERE (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL) AND job_attempts >= 3) AS failed,
       count(*) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(job_token_timestamp) FILTER (WHERE job_token_timestamp IS NOT NULL AND job_token_timestamp > unixepoch() - 3600)) AS oldest_running
FROM   "{{.Prefix}}job"
WHERE  job_cmd = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job_cmd
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Backlog */
       job_cmd,
       count(*) AS ready
FROM   "{{.Prefix}}job"
WHERE  (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL)
AND    job_attempts < 3
GROUP  BY +job_cmd
ORDER  BY +job_cmd;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: job_cmd_id (job_cmd, job_id)
-- arguments: 1: param jobCmd string, 2: limit
SELECT /* wikiq.Peek */
       job_id, job_cmd, job_params, job_attempts
FROM   "{{.Prefix}}job" INDEXED BY job_cmd_id
WHERE  (job_token_timestamp <= unixepoch() - 3600 OR job_token_timestamp IS NULL)
AND    job_attempts < 3
AND    job_cmd = ?1
ORDER  BY job_id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* wikiq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* wikiq.Verify */ want (name, type) AS (
    VALUES ('job_id', 'integer'),
           ('job_cmd', 'varchar(60)'),
           ('job_params', 'blob'),
           ('job_token', 'varchar(60)'),
           ('job_token_timestamp', 'integer'),
           ('job_attempts', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('{{.Prefix}}job') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* wikiq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('job_cmd_id', '', '', '')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('{{.Prefix}}job') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; those whose tries are spent are few, and are read and passed over: job_cmd_id serves already
