-- Package jobsq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running. A worker that comes late, after the job was recovered and claimed by another, is not told from that other and can settle its job.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and Recover takes it as it takes a running one.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs claimed or running until the program starts again; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes rows of other jobs (Enqueue), each in the transaction of the operation. Purge removes nothing from other tables.
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
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: warning: also: enqueue deletes rows of other jobs whatever state they are in, also those that others run; a state among where: leaves these alone
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: also: enqueue reads jobs as the step leaves it

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'READY'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* jobsq.Claim */ jobs
SET    status = 'CLAIMED'
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'READY'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, workflow, made;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'READY'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* jobsq.Claim */ jobs
SET    status = 'CLAIMED'
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  status = 'READY'
           ORDER  BY id
           LIMIT  1)
RETURNING id, workflow, made;

-- sql/start.sql
-- start: claimed to running
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* jobsq.Start */ jobs
SET    status = 'RUNNING'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(status = 'CLAIMED')
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* jobsq.Complete */ jobs
SET    status = 'SUCCESS'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(status IN ('CLAIMED', 'RUNNING'))
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* jobsq.Fail */ jobs
SET    status = 'FAILURE'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(status IN ('CLAIMED', 'RUNNING'))
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* jobsq.Requeue */ jobs
SET    status = 'READY'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(status IN ('CLAIMED', 'RUNNING'))
RETURNING id;

-- sql/recover.sql
-- recover: claimed or running to ready, when the program starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    status = 'READY'
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status IN ('CLAIMED', 'RUNNING')
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    status = 'READY'
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'FAILURE'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE status IN ('SUCCESS', 'PENDING') would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status IN ('SUCCESS', 'PENDING')
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE status = 'FAILURE' would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 'FAILURE'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Workflow, 2: new Made
INSERT /* jobsq.Enqueue */ INTO jobs
       (workflow, made)
VALUES (?1, coalesce(?2, CURRENT_TIMESTAMP))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Workflow Made
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (workflow, made)
SELECT workflow_new, coalesce(made_new, CURRENT_TIMESTAMP)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS workflow_new,
                  json_extract(value, '$[1]') AS made_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_delete_jobs.sql
-- enqueue: deletes rows from jobs for the rows that were added; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows jobs_workflow (workflow, made DESC)
-- arguments: 1: batch_all ID
DELETE /* jobsq.Enqueue */ FROM jobs
WHERE  workflow IN (
SELECT held.workflow
FROM   jobs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1)))
AND    EXISTS (
SELECT 1
FROM   jobs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(jobs.workflow = held.workflow
      AND    (jobs.id not in (select e.id from jobs as e where e.workflow = held.workflow order by e.made desc limit 1000))))
AND    jobs.id NOT IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE status = 'READY') AS ready,
       count(*) FILTER (WHERE status = 'CLAIMED') AS claimed,
       count(*) FILTER (WHERE status = 'RUNNING') AS running,
       count(*) FILTER (WHERE status IN ('SUCCESS', 'PENDING')) AS done,
       count(*) FILTER (WHERE status = 'FAILURE') AS failed
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE status = 'READY'
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 'READY';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status = 'READY'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, workflow, made
FROM   jobs
WHERE  status = 'READY'
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
           ('workflow', 'TEXT'),
           ('status', 'TEXT'),
           ('made', 'DATETIME')
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
    VALUES ('jobs_ready', 'id', 'id', 'status=''ready'''),
           ('jobs_workflow', 'workflow', 'workflow', '')
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
WHERE  status = 'READY';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- finds the rows of other jobs that a step writes: jobs_workflow serves already
