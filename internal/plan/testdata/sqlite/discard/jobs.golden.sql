-- Package jobsq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Discard---------> (deleted)
-- 	running  --Refused---------> failed
-- 	running  --Split-----------> done
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes parts (Complete, Discard), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "ref"
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (ref) WHERE status = 1; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* jobsq.Claim */ jobs
SET    status = 3,
       till = unixepoch() + 300
WHERE  ref IN (
           SELECT ref
           FROM   jobs
           WHERE  status = 1
           ORDER  BY ref
           LIMIT  ?1)
RETURNING ref, job_data, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (ref) WHERE status = 1; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* jobsq.Claim */ jobs
SET    status = 3,
       till = unixepoch() + 300
WHERE  ref = (
           SELECT ref
           FROM   jobs
           WHERE  status = 1
           ORDER  BY ref
           LIMIT  1)
RETURNING ref, job_data, till;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
SELECT /* jobsq.Complete */
       ref
FROM   jobs
WHERE  (ref, till) IN (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(status = 3);

-- sql/complete_delete_parts.sql
-- complete: deletes rows from parts for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of parts one that begins with job
-- arguments: 1: batch_all Ref Till
DELETE /* jobsq.Complete */ FROM parts
WHERE  job IN (
SELECT held.ref
FROM   jobs AS held
WHERE  (held.ref, held.till) IN (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)));

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Complete */ jobs
SET    status = 2,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  ref = ref_held
AND    +(till = till_held
      AND    status = 3)
RETURNING ref;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Fail */ jobs
SET    status = 5,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  ref = ref_held
AND    +(till = till_held
      AND    status = 3)
RETURNING ref;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Requeue */ jobs
SET    status = 1,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  ref = ref_held
AND    +(till = till_held
      AND    status = 3)
RETURNING ref;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Extend */ jobs
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  ref = ref_held
AND    +(till = till_held
      AND    status = 3)
RETURNING ref, till;

-- sql/outcome_discard_lock.sql
-- outcome_discard: locks the rows of jobs whose claims are still theirs, which outcome_discard.sql then writes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
SELECT /* jobsq.Discard */
       ref
FROM   jobs
WHERE  (ref, till) IN (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(status = 3);

-- sql/outcome_discard_delete_parts.sql
-- outcome_discard: deletes rows from parts for the rows that outcome_discard_lock.sql locked, before outcome_discard.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of parts one that begins with job
-- arguments: 1: batch_all Ref Till
DELETE /* jobsq.Discard */ FROM parts
WHERE  job IN (
SELECT held.ref
FROM   jobs AS held
WHERE  (held.ref, held.till) IN (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)));

-- sql/outcome_discard.sql
-- outcome_discard: running to deleted
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
DELETE /* jobsq.Discard */ FROM jobs
WHERE  (ref, till) IN (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(status = 3)
RETURNING ref;

-- sql/outcome_refused.sql
-- outcome_refused: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: given data string, 2: batch_all Ref Till
UPDATE /* jobsq.Refused */ jobs
SET    status = 5,
       job_data = ?1,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  ref = ref_held
AND    +(till = till_held
      AND    status = 3)
RETURNING ref;

-- sql/outcome_split.sql
-- outcome_split: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Split */ jobs
SET    status = 2,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS ref_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  ref = ref_held
AND    +(till = till_held
      AND    status = 3)
RETURNING ref;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE status = 3; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    status = 1,
       till = NULL
WHERE  ref IN (
           SELECT ref
           FROM   jobs
           WHERE  status = 3
           AND    till <= unixepoch()
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    status = 1,
       till = NULL
WHERE  ref IN (
           SELECT ref
           FROM   jobs
           WHERE  status = 5
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ref) WHERE status = 2 would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  ref IN (
           SELECT ref
           FROM   jobs
           WHERE  status = 2
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ref) WHERE status = 5 would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  ref IN (
           SELECT ref
           FROM   jobs
           WHERE  status = 5
           LIMIT  ?1);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* jobsq.Reserve */ FROM jobs
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new JobData
INSERT /* jobsq.Enqueue */ INTO jobs
       (job_data)
VALUES (?1)
RETURNING ref;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all JobData
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (job_data)
SELECT job_data_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS job_data_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING ref;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE status = 1) AS ready,
       count(*) FILTER (WHERE status = 3) AS running,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 5) AS failed,
       count(*) FILTER (WHERE status = 3 AND till <= unixepoch()) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (ref) WHERE status = 1
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (ref) WHERE status = 1; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       ref, job_data
FROM   jobs
WHERE  status = 1
ORDER  BY ref
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
    VALUES ('ref', 'integer'),
           ('status', 'integer'),
           ('job_data', 'text'),
           ('till', 'integer')
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

-- sql/verify_columns_also.sql
-- verify: columns of parts
-- locks: none
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('job', 'bigint')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('parts') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* jobsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_ready', 'ref', 'ref', 'status=1'),
           ('jobs_expired', 'till', 'till', 'status=3')
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
CREATE INDEX jobs_ready ON jobs (ref)
WHERE  status = 1;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX jobs_expired ON jobs (till)
WHERE  status = 3;
