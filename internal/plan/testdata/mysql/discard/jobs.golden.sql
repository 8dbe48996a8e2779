-- Package jobsq uses the table jobs as a queue of jobs on MySQL 8 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Discard---------> (deleted)
-- 	running  --Refused---------> failed
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes parts (Complete, Discard), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "ref"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Claim */
       ref, job_data, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR)
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 1
ORDER  BY ref
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list Ref
UPDATE /* jobsq.Claim */ jobs FORCE INDEX (PRIMARY)
SET    status = 3,
       till = ?
WHERE  (ref IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
SELECT /* jobsq.Complete */
       ref
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3
FOR    UPDATE;

-- sql/complete_delete_parts.sql
-- complete: deletes rows from parts for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of parts one that begins with job
-- isolation: read committed
-- arguments: 1: list Ref Till
DELETE /* jobsq.Complete */ parts
FROM   jobs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN parts ON parts.job = held.ref
WHERE  ((held.ref, held.till) IN ((?, ?)));

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
UPDATE /* jobsq.Complete */ jobs FORCE INDEX (PRIMARY)
SET    status = 2,
       till = NULL
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
SELECT /* jobsq.Fail */
       ref
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    status = 5,
       till = NULL
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
SELECT /* jobsq.Requeue */
       ref
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
UPDATE /* jobsq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    status = 1,
       till = NULL
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
SELECT /* jobsq.Extend */
       ref
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
UPDATE /* jobsq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref
SELECT /* jobsq.Extend */
       ref, CAST(till AS CHAR)
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (ref IN (?));

-- sql/outcome_discard_lock.sql
-- outcome_discard: locks the rows of jobs whose claims are still theirs, which outcome_discard.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
SELECT /* jobsq.Discard */
       ref
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3
FOR    UPDATE;

-- sql/outcome_discard_delete_parts.sql
-- outcome_discard: deletes rows from parts for the rows that outcome_discard_lock.sql locked, before outcome_discard.sql
-- locks: the rows it writes, until commit
-- index: the key; of parts one that begins with job
-- isolation: read committed
-- arguments: 1: list Ref Till
DELETE /* jobsq.Discard */ parts
FROM   jobs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN parts ON parts.job = held.ref
WHERE  ((held.ref, held.till) IN ((?, ?)));

-- sql/outcome_discard.sql
-- outcome_discard: running to deleted
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
DELETE /* jobsq.Discard */ jobs
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3;

-- sql/outcome_refused_lock.sql
-- outcome_refused: locks the rows of jobs whose claims are still theirs, which outcome_refused.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Ref Till
SELECT /* jobsq.Refused */
       ref
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3
FOR    UPDATE;

-- sql/outcome_refused.sql
-- outcome_refused: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given data string, 2: list Ref Till
UPDATE /* jobsq.Refused */ jobs FORCE INDEX (PRIMARY)
SET    status = 5,
       job_data = ?,
       till = NULL
WHERE  ((ref, till) IN ((?, ?)))
AND    status = 3;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT ref
           FROM   jobs
           WHERE  status = 3
           AND    till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.ref = picked.ref
SET    status = 1,
       till = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ (
           SELECT ref
           FROM   jobs
           WHERE  status = 5
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.ref = picked.ref
SET    status = 1,
       till = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT ref
           FROM   jobs
           WHERE  status = 2
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.ref = picked.ref;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT ref
           FROM   jobs
           WHERE  status = 5
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.ref = picked.ref;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobData
INSERT /* jobsq.Enqueue */ INTO jobs
       (job_data)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list JobData
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (job_data)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* jobsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN status = 1 THEN 1 END) AS ready,
       count(CASE WHEN status = 3 THEN 1 END) AS running,
       count(CASE WHEN status = 2 THEN 1 END) AS done,
       count(CASE WHEN status = 5 THEN 1 END) AS failed,
       count(CASE WHEN status = 3 AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, ref)
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       ref, job_data
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 1
ORDER  BY ref
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'ref' AS name, 'bigint' AS type UNION ALL
           SELECT 'status', 'int' UNION ALL
           SELECT 'job_data', 'varchar' UNION ALL
           SELECT 'till', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of parts
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'job' AS name, 'bigint' AS type
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'parts'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'jobs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_ready' AS name, 'status, ref' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'jobs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE jobs ADD INDEX jobs_ready (status, ref), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
