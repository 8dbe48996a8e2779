-- Package reckonedq uses the table reckoned as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> ready, due again
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- A job never ends: Complete makes it ready again, due after a time that the database works out of the row. Who wants one to end deletes its row.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates reckoned_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  a row of the queue is written when its job ends and not before, and with cycle no job ends
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: held_list ID, 2: limit
SELECT /* reckonedq.Claim */
       id, run_at, wait_s
FROM   reckoned
WHERE  run_at <= UNIX_TIMESTAMP()
AND    NOT (id = ?)
ORDER  BY run_at, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* reckonedq.Complete */
       id
FROM   reckoned FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    run_at <= UNIX_TIMESTAMP()
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* reckonedq.Complete */ reckoned FORCE INDEX (PRIMARY)
SET    run_at = FLOOR(UNIX_TIMESTAMP() + (reckoned.wait_s * 2))
WHERE  (id = ?)
AND    run_at <= UNIX_TIMESTAMP();

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* reckonedq.Fail */
       id
FROM   reckoned FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    run_at <= UNIX_TIMESTAMP()
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID
UPDATE /* reckonedq.Fail */ reckoned FORCE INDEX (PRIMARY)
SET    run_at = FLOOR(UNIX_TIMESTAMP() + ?)
WHERE  (id = ?)
AND    run_at <= UNIX_TIMESTAMP();

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* reckonedq.Requeue */
       id
FROM   reckoned FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    run_at <= UNIX_TIMESTAMP()
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID
UPDATE /* reckonedq.Requeue */ reckoned FORCE INDEX (PRIMARY)
SET    run_at = CASE WHEN ? > 0.0 THEN FLOOR(UNIX_TIMESTAMP() + ?) ELSE run_at END
WHERE  (id = ?)
AND    run_at <= UNIX_TIMESTAMP();

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new WaitS
INSERT /* reckonedq.Enqueue */ INTO reckoned
       (run_at, wait_s)
VALUES (coalesce(?, UNIX_TIMESTAMP()), coalesce(?, 60));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list RunAt WaitS
INSERT /* reckonedq.EnqueueMany */ INTO reckoned
       (run_at, wait_s)
VALUES (coalesce(?, UNIX_TIMESTAMP()), coalesce(?, 60));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* reckonedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* reckonedq.Stats */
       count(CASE WHEN run_at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN run_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN run_at <= UNIX_TIMESTAMP() THEN run_at END) AS SIGNED) AS oldest_ready
FROM   reckoned;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* reckonedq.Peek */
       id, run_at, wait_s
FROM   reckoned
WHERE  run_at <= UNIX_TIMESTAMP()
ORDER  BY run_at, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* reckonedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* reckonedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'run_at', 'bigint' UNION ALL
           SELECT 'wait_s', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'reckoned'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* reckonedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'reckoned'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT'
UNION  ALL
SELECT 'the server is one of a cluster, whose nodes do not see each other''s row locks; say cluster: true in qgen.yaml'
FROM   DUAL
WHERE  @@wsrep_on = 1;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* reckonedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'reckoned_ready' AS name, 'run_at, id' AS columns, 'run_at' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'reckoned'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE reckoned ADD INDEX reckoned_ready (run_at, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
