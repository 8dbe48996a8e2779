-- Package jobsq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (status, id, run_at) WHERE status = 'pending'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: limit
UPDATE /* jobsq.Claim */ jobs
SET    status = 'processing',
       expires = unixepoch() + 300,
       tries = tries + 1,
       token = ?1
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'pending'
           AND    (run_at <= unixepoch() OR run_at IS NULL)
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, run_at, expires, tries, token;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (status, id, run_at) WHERE status = 'pending'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token
UPDATE /* jobsq.Claim */ jobs
SET    status = 'processing',
       expires = unixepoch() + 300,
       tries = tries + 1,
       token = ?1
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  status = 'pending'
           AND    (run_at <= unixepoch() OR run_at IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_at, expires, tries, token;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* jobsq.Complete */ jobs
SET    status = 'completed',
       expires = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'processing')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* jobsq.Fail */ jobs
SET    status = 'pending',
       run_at = CAST(unixepoch() + ?1 AS INTEGER),
       expires = NULL,
       token = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'processing')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* jobsq.Fail */ jobs
SET    status = 'failed',
       expires = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'processing')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* jobsq.Requeue */ jobs
SET    status = 'pending',
       run_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE run_at END,
       expires = NULL,
       tries = tries - 1,
       token = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'processing')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* jobsq.Extend */ jobs
SET    expires = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'processing')
RETURNING id, expires;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: jobs_status_expires (status, expires)
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    status = 'pending',
       expires = NULL,
       token = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs INDEXED BY jobs_status_expires
           WHERE  status = 'processing'
           AND    tries < 5
           AND    expires <= unixepoch()
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: jobs_status_expires (status, expires)
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    status = 'failed',
       expires = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs INDEXED BY jobs_status_expires
           WHERE  status = 'processing'
           AND    tries >= 5
           AND    expires <= unixepoch()
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: jobs_status_run (status, run_at)
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    status = 'pending',
       expires = NULL,
       tries = 0,
       token = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'failed'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt
INSERT /* jobsq.Enqueue */ INTO jobs
       (status, run_at)
VALUES ('pending', ?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (status, run_at)
SELECT 'pending', run_at_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS run_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE status = 'pending' AND (run_at <= unixepoch() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE status = 'processing') AS running,
       count(*) FILTER (WHERE status = 'completed') AS done,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'pending' AND run_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE status = 'processing' AND expires <= unixepoch()) AS expired,
       (unixepoch() - min(run_at) FILTER (WHERE status = 'pending' AND (run_at <= unixepoch() OR run_at IS NULL))) AS oldest_ready
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: jobs_status_run (status, run_at)
SELECT /* jobsq.Backlog */
       count(*) FILTER (WHERE (run_at <= unixepoch() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE run_at > unixepoch()) AS delayed,
       (unixepoch() - min(run_at) FILTER (WHERE (run_at <= unixepoch() OR run_at IS NULL))) AS oldest_ready
FROM   jobs
WHERE  status = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id, run_at) WHERE status = 'pending'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, run_at, tries
FROM   jobs
WHERE  status = 'pending'
AND    (run_at <= unixepoch() OR run_at IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
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
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('status', 'TEXT'),
           ('run_at', 'INTEGER'),
           ('expires', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('token', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('jobs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* jobsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_ready', 'status, id', 'status', 'status=''pending'''),
           ('jobs_status_expires', '', '', '')
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
    FROM   pragma_index_list('jobs') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it begins with what its predicate says, or the server would take jobs_status_run and sort where ANALYZE was not run; rows that wait for their time are passed over in it
CREATE INDEX jobs_ready ON jobs (status, id, run_at)
WHERE  status = 'pending';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out: jobs_status_expires serves already
