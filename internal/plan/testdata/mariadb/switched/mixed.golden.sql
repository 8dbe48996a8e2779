-- Package mixedq uses the table mixed as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was recovered and claimed by another, is not told from that other and can settle its job.
--
-- A job never ends: Complete makes it ready again, due after the time that the row adds to last_run. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. A worker that dies leaves its jobs running until the program starts again; then Recover makes them ready again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        no column can hold the key of a batch, by which a block reads it back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows without a value in column "last_run" stand first in the order, where MariaDB puts nulls (nulls=last puts them last)
-- note: every claim reads the rows before the ready ones that its condition refuses by "active"; where these are many, an index that begins with what is compared leads past them, once the schema that qgen reads has it and the package is generated again: ALTER TABLE mixed ADD INDEX mixed_ready2 (running, active, last_run, id), ALGORITHM=INPLACE, LOCK=NONE

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns and those that it reads and passes over, until commit; passes over rows that are locked
-- index: mixed_ready (running, last_run)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mixedq.Claim */
       id, user1, active, CAST(last_run AS CHAR)
FROM   mixed FORCE INDEX (mixed_ready)
WHERE  running = 0
AND    (last_run <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR last_run IS NULL)
AND    (active = 1 and user1 <> 'x')
ORDER  BY last_run, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mixedq.Claim */ mixed FORCE INDEX (PRIMARY)
SET    running = 1
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mixedq.Complete */
       id
FROM   mixed FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    running = 1
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mixedq.Complete */ mixed FORCE INDEX (PRIMARY)
SET    running = 0,
       last_run = UTC_TIMESTAMP(0)
WHERE  (id = ?)
AND    running = 1;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mixedq.Fail */
       id
FROM   mixed FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    running = 1
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mixedq.Fail */ mixed FORCE INDEX (PRIMARY)
SET    running = 0,
       last_run = UTC_TIMESTAMP(0)
WHERE  (id = ?)
AND    running = 1;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mixedq.Requeue */
       id
FROM   mixed FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    running = 1
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mixedq.Requeue */ mixed FORCE INDEX (PRIMARY)
SET    running = 0
WHERE  (id = ?)
AND    running = 1;

-- sql/recover.sql
-- recover: running to ready, when the program starts
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: mixed_ready (running, last_run)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mixedq.Recover */ (
           SELECT id
           FROM   mixed
           WHERE  running = 1
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mixed ON mixed.id = picked.id
SET    running = 0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new User1, 2: new Active, 3: new LastRun
INSERT /* mixedq.Enqueue */ INTO mixed
       (user1, active, last_run)
VALUES (?, coalesce(?, 0), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due and the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list User1 Active LastRun
INSERT /* mixedq.EnqueueMany */ INTO mixed
       (user1, active, last_run)
VALUES (?, coalesce(?, 0), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* mixedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mixedq.Stats */
       count(CASE WHEN running = 0 AND (last_run <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR last_run IS NULL) AND (active = 1 and user1 <> 'x') THEN 1 END) AS ready,
       count(CASE WHEN running = 1 THEN 1 END) AS running,
       count(CASE WHEN running = 0 AND last_run > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS `delayed`
FROM   mixed;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: mixed_ready (running, last_run)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mixedq.Peek */
       id, user1, active, CAST(last_run AS CHAR)
FROM   mixed FORCE INDEX (mixed_ready)
WHERE  running = 0
AND    (last_run <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR last_run IS NULL)
AND    (active = 1 and user1 <> 'x')
ORDER  BY last_run, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mixedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mixedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'user1', 'varchar' UNION ALL
           SELECT 'active', 'tinyint' UNION ALL
           SELECT 'running', 'tinyint' UNION ALL
           SELECT 'last_run', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'mixed'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mixedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'mixed'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mixedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'mixed_ready' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'mixed'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that a condition of the queue refuses are read and passed over: mixed_ready serves already
