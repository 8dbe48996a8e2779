-- Package uploadsq uses the table uploads as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and its recoveries are spent
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those whose recoveries are spent failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates uploads_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  not needed: token comes first
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for
-- note: on giveup, column "message" gets 'reset too often' as qgen:on says, not 'the claim ran out' as qgen:error would
-- note: rows are taken as they came, by column "id"
-- note: warning: a running row whose seen is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Held
UPDATE /* uploadsq.Claim */ (
           SELECT id
           FROM   uploads IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  state = 'queued'
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN uploads ON uploads.id = picked.id
SET    state = 'processing',
       held = ?,
       seen = UTC_TIMESTAMP(6);

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: (state, id); it reads others as well
-- isolation: read committed
-- arguments: 1: token Held
SELECT /* uploadsq.Claim */
       id, held, num_failures, num_resets, message
FROM   uploads
WHERE  held = ?
AND    state = 'processing';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
SELECT /* uploadsq.Complete */
       id
FROM   uploads FORCE INDEX (PRIMARY)
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
UPDATE /* uploadsq.Complete */ uploads FORCE INDEX (PRIMARY)
SET    state = 'completed'
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
SELECT /* uploadsq.Fail */
       id
FROM   uploads FORCE INDEX (PRIMARY)
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Held
UPDATE /* uploadsq.Fail */ uploads FORCE INDEX (PRIMARY)
SET    state = 'queued',
       held = NULL,
       num_failures = num_failures + 1,
       message = ?
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
SELECT /* uploadsq.Fail */
       id
FROM   uploads FORCE INDEX (PRIMARY)
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Held
UPDATE /* uploadsq.Fail */ uploads FORCE INDEX (PRIMARY)
SET    state = 'failed',
       num_failures = num_failures + 1,
       message = ?
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
SELECT /* uploadsq.Requeue */
       id
FROM   uploads FORCE INDEX (PRIMARY)
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
UPDATE /* uploadsq.Requeue */ uploads FORCE INDEX (PRIMARY)
SET    state = 'queued',
       held = NULL
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
SELECT /* uploadsq.Extend */
       id
FROM   uploads FORCE INDEX (PRIMARY)
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Held
UPDATE /* uploadsq.Extend */ uploads FORCE INDEX (PRIMARY)
SET    seen = UTC_TIMESTAMP(6)
WHERE  ((id, held) IN ((?, ?)))
AND    state = 'processing';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ (
           SELECT id
           FROM   uploads
           WHERE  state = 'processing'
           AND    num_resets < 2
           AND    seen <= UTC_TIMESTAMP(6) - INTERVAL 25 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN uploads ON uploads.id = picked.id
SET    state = 'queued',
       held = NULL,
       num_resets = uploads.num_resets + 1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim, whose recoveries are spent, to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ (
           SELECT id
           FROM   uploads
           WHERE  state = 'processing'
           AND    num_resets >= 2
           AND    seen <= UTC_TIMESTAMP(6) - INTERVAL 25 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN uploads ON uploads.id = picked.id
SET    state = 'failed',
       message = 'reset too often';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* uploadsq.Redrive */ (
           SELECT id
           FROM   uploads
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN uploads ON uploads.id = picked.id
SET    state = 'queued',
       held = NULL,
       num_failures = 0,
       num_resets = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ uploads
FROM   (
           SELECT id
           FROM   uploads
           WHERE  state = 'completed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN uploads ON uploads.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ uploads
FROM   (
           SELECT id
           FROM   uploads
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN uploads ON uploads.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* uploadsq.Enqueue */ INTO uploads
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* uploadsq.Stats */
       count(CASE WHEN state = 'queued' THEN 1 END) AS ready,
       count(CASE WHEN state = 'processing' THEN 1 END) AS running,
       count(CASE WHEN state = 'completed' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state = 'processing' AND seen <= UTC_TIMESTAMP(6) - INTERVAL 25 SECOND THEN 1 END) AS expired
FROM   uploads;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* uploadsq.Backlog */
       count(*) AS ready
FROM   uploads
WHERE  state = 'queued';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* uploadsq.Peek */
       id, num_failures, num_resets, message
FROM   uploads IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'queued'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* uploadsq.Verify */
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
SELECT /* uploadsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'held', 'char' UNION ALL
           SELECT 'seen', 'datetime' UNION ALL
           SELECT 'num_failures', 'int' UNION ALL
           SELECT 'num_resets', 'int' UNION ALL
           SELECT 'message', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'uploads'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* uploadsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'uploads'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* uploadsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'uploads_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'uploads'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE uploads ADD INDEX uploads_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
