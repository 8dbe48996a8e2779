-- Package jobsq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
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
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'ready'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: limit
UPDATE /* jobsq.Claim */ jobs
SET    status = 'running',
       token = ?1,
       lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'ready'
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, token, lease_till, body_id;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'ready'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token
UPDATE /* jobsq.Claim */ jobs
SET    status = 'running',
       token = ?1,
       lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  status = 'ready'
           ORDER  BY id
           LIMIT  1)
RETURNING id, token, lease_till, body_id;

-- sql/payload.sql
-- payload: what claimed jobs have in bodies, heads
-- locks: none
-- index: the key
-- arguments: 1: batch_all ID
SELECT /* jobsq.Payload */
       jobs.id, b.body, b.status, b.raw, b.made, job.subject
FROM   jobs
       LEFT JOIN bodies b
       ON  (b.id = jobs.body_id)
       LEFT JOIN heads job
       ON  (job.body_id = jobs.body_id)
WHERE  jobs.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* jobsq.Complete */ jobs
SET    status = 'done',
       lease_till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'running')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* jobsq.Fail */ jobs
SET    status = 'failed',
       lease_till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'running')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* jobsq.Requeue */ jobs
SET    status = 'ready',
       token = NULL,
       lease_till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'running')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* jobsq.Extend */ jobs
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    status = 'running')
RETURNING id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE status = 'running'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    status = 'ready',
       token = NULL,
       lease_till = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'running'
           AND    lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    status = 'ready',
       token = NULL,
       lease_till = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE status = 'done' would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'done'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE status = 'failed' would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'failed'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new BodyID
INSERT /* jobsq.Enqueue */ INTO jobs
       (body_id)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all BodyID
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (body_id)
SELECT body_id_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS body_id_new
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
       count(*) FILTER (WHERE status = 'ready') AS ready,
       count(*) FILTER (WHERE status = 'running') AS running,
       count(*) FILTER (WHERE status = 'done') AS done,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'running' AND lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE status = 'ready'
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status = 'ready'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, body_id
FROM   jobs
WHERE  status = 'ready'
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
    VALUES ('id', 'integer'),
           ('status', 'varchar(10)'),
           ('token', 'varchar(40)'),
           ('lease_till', 'integer'),
           ('body_id', 'bigint')
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

-- sql/verify_columns_payload.sql
-- verify: columns of bodies
-- locks: none
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('body', 'text'),
           ('status', 'varchar(10)'),
           ('raw', 'blob'),
           ('made', 'timestamp')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('bodies') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_payload2.sql
-- verify: columns of heads
-- locks: none
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('subject', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('heads') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* jobsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_ready', 'id', 'id', 'status=''ready'''),
           ('jobs_expired', 'lease_till', 'lease_till', 'status=''running''')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX jobs_ready ON jobs (id)
WHERE  status = 'ready';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX jobs_expired ON jobs (lease_till)
WHERE  status = 'running';
