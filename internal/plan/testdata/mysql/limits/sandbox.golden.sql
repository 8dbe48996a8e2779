-- Package sandboxq uses the table sandbox as a queue of jobs on MySQL 8.4 and later.
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
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates sandbox_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "run_count" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* sandboxq.Claim */
       id, CAST(UTC_TIMESTAMP(6) AS CHAR), run_count + 1, max_retry
FROM   sandbox IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'N'
AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Started, 2: list ID
UPDATE /* sandboxq.Claim */ sandbox FORCE INDEX (PRIMARY)
SET    status = 'A',
       started = ?,
       run_count = run_count + 1
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: run_count as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
SELECT /* sandboxq.Complete */
       id
FROM   sandbox FORCE INDEX (PRIMARY)
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
UPDATE /* sandboxq.Complete */ sandbox FORCE INDEX (PRIMARY)
SET    status = 'D'
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: run_count as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
SELECT /* sandboxq.Fail */
       id
FROM   sandbox FORCE INDEX (PRIMARY)
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
UPDATE /* sandboxq.Fail */ sandbox FORCE INDEX (PRIMARY)
SET    status = 'N',
       started = NULL
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: run_count as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
SELECT /* sandboxq.Fail */
       id
FROM   sandbox FORCE INDEX (PRIMARY)
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
UPDATE /* sandboxq.Fail */ sandbox FORCE INDEX (PRIMARY)
SET    status = 'F'
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: run_count as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
SELECT /* sandboxq.Requeue */
       id
FROM   sandbox FORCE INDEX (PRIMARY)
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
UPDATE /* sandboxq.Requeue */ sandbox FORCE INDEX (PRIMARY)
SET    status = 'N',
       started = NULL,
       run_count = run_count - 1
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: run_count as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
SELECT /* sandboxq.Extend */
       id
FROM   sandbox FORCE INDEX (PRIMARY)
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID RunCount
UPDATE /* sandboxq.Extend */ sandbox FORCE INDEX (PRIMARY)
SET    started = UTC_TIMESTAMP(6)
WHERE  ((id, run_count) IN ((?, ?)))
AND    status = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sandboxq.Recover */ (
           SELECT id
           FROM   sandbox
           WHERE  status = 'A'
           AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1)
           AND    started <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN sandbox ON sandbox.id = picked.id
SET    status = 'N',
       started = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sandboxq.Recover */ (
           SELECT id
           FROM   sandbox
           WHERE  status = 'A'
           AND    run_count > max_retry
           AND    (max_retry IS NULL OR max_retry <> -1)
           AND    started <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN sandbox ON sandbox.id = picked.id
SET    status = 'F';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sandboxq.Redrive */ (
           SELECT id
           FROM   sandbox
           WHERE  status = 'F'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN sandbox ON sandbox.id = picked.id
SET    status = 'N',
       started = NULL,
       run_count = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, started) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* sandboxq.Purge */ sandbox
FROM   (
           SELECT id
           FROM   sandbox
           WHERE  status = 'D'
           AND    started <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN sandbox ON sandbox.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, started) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* sandboxq.Purge */ sandbox
FROM   (
           SELECT id
           FROM   sandbox
           WHERE  status = 'F'
           AND    started <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN sandbox ON sandbox.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MaxRetry
INSERT /* sandboxq.Enqueue */ INTO sandbox
       (max_retry)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list MaxRetry
INSERT /* sandboxq.EnqueueMany */ INTO sandbox
       (max_retry)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* sandboxq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sandboxq.Stats */
       count(CASE WHEN status = 'N' AND (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1) THEN 1 END) AS ready,
       count(CASE WHEN status = 'A' THEN 1 END) AS running,
       count(CASE WHEN status = 'D' THEN 1 END) AS done,
       count(CASE WHEN status = 'F' THEN 1 END) AS failed,
       count(CASE WHEN status = 'A' AND started <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 'A' THEN started END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   sandbox;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id); it reads others as well
SELECT /* sandboxq.Backlog */
       count(*) AS ready
FROM   sandbox
WHERE  status = 'N'
AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* sandboxq.Peek */
       id, run_count, max_retry
FROM   sandbox IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'N'
AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sandboxq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8.4')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* sandboxq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'status', 'char' UNION ALL
           SELECT 'started', 'datetime' UNION ALL
           SELECT 'run_count', 'bigint' UNION ALL
           SELECT 'max_retry', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'sandbox'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* sandboxq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'sandbox'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sandboxq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'sandbox_ready' AS name, 'status, id' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'sandbox'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE sandbox ADD INDEX sandbox_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
