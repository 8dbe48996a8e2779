-- Package condsq uses the table conds as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when recover_if holds
-- 	failed   --Redrive---------> ready
-- 	done     --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was recovered and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until recover_if holds for them; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates conds_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (locked, error, completed, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* condsq.Claim */
       id, CAST(deadline AS CHAR)
FROM   conds IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  completed IS NULL
AND    locked = 0
AND    error = 0
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* condsq.Claim */ conds FORCE INDEX (PRIMARY)
SET    locked = 1
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* condsq.Complete */
       id
FROM   conds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    locked = 1
AND    error = 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* condsq.Complete */ conds FORCE INDEX (PRIMARY)
SET    completed = NOW(0),
       locked = 0
WHERE  (id IN (?))
AND    locked = 1
AND    error = 0;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* condsq.Fail */
       id
FROM   conds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    locked = 1
AND    error = 0
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* condsq.Fail */ conds FORCE INDEX (PRIMARY)
SET    locked = 0,
       error = 1
WHERE  (id IN (?))
AND    locked = 1
AND    error = 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* condsq.Requeue */
       id
FROM   conds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    locked = 1
AND    error = 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* condsq.Requeue */ conds FORCE INDEX (PRIMARY)
SET    locked = 0
WHERE  (id IN (?))
AND    locked = 1
AND    error = 0;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (locked, error, completed, id), which finds the rows that somebody has by locked, error
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* condsq.Recover */ (
           SELECT id
           FROM   conds
           WHERE  locked = 1
           AND    error = 0
           AND    (deadline <= NOW(6))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN conds ON conds.id = picked.id
SET    locked = 0;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* condsq.Redrive */ (
           SELECT id
           FROM   conds
           WHERE  error = 1
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN conds ON conds.id = picked.id
SET    completed = NULL,
       locked = 0,
       error = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (locked, error, completed, id)
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* condsq.Purge */ conds
FROM   (
           SELECT id
           FROM   conds
           WHERE  completed IS NOT NULL
           AND    locked = 0
           AND    error = 0
           AND    completed <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN conds ON conds.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Deadline
INSERT /* condsq.Enqueue */ INTO conds
       (deadline)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Deadline
INSERT /* condsq.EnqueueMany */ INTO conds
       (deadline)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* condsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* condsq.Stats */
       count(CASE WHEN completed IS NULL AND locked = 0 AND error = 0 THEN 1 END) AS ready,
       count(CASE WHEN locked = 1 AND error = 0 THEN 1 END) AS running,
       count(CASE WHEN completed IS NOT NULL AND locked = 0 AND error = 0 THEN 1 END) AS done,
       count(CASE WHEN error = 1 THEN 1 END) AS failed,
       count(CASE WHEN locked = 1 AND error = 0 AND (deadline <= NOW(6)) THEN 1 END) AS expired
FROM   conds;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (locked, error, completed, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* condsq.Peek */
       id, CAST(deadline AS CHAR)
FROM   conds IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  completed IS NULL
AND    locked = 0
AND    error = 0
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* condsq.Verify */
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
SELECT /* condsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'deadline', 'datetime' UNION ALL
           SELECT 'completed', 'datetime' UNION ALL
           SELECT 'locked', 'tinyint unsigned' UNION ALL
           SELECT 'error', 'tinyint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'conds'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* condsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'conds'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock Deadline
SELECT /* condsq.Verify */
       CONCAT('the clock of the database reads ', CAST(NOW(6) AS CHAR), ', and that of the program does not')
FROM   DUAL
WHERE  TIMESTAMPDIFF(MICROSECOND, ?, NOW(6)) / 1000000 NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* condsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'conds_ready' AS name, 'locked, error, completed, id' AS columns, 'locked, error, completed' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', '?'), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'conds'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE conds ADD INDEX conds_ready (locked, error, completed, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
