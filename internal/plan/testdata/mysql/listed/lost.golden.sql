-- Package lostq uses the table lost as a queue of jobs on MySQL 5.7 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates lost_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 5.7 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no index can give this order, and rows that are sorted are all locked first
--   lock_update  MySQL 5.7 cannot pass over locked rows
--   advisory     MySQL has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (active, complete); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lostq.Claim */
       id
FROM   lost
WHERE  active = 0
AND    complete = 0
ORDER  BY (field(task, 'repair', 'verify')), id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks and reads those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lostq.Claim */
       id, task
FROM   lost FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    active = 0
AND    complete = 0
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lostq.Claim */ lost FORCE INDEX (PRIMARY)
SET    active = 1
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lostq.Complete */
       id
FROM   lost FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    active = 1
AND    complete = 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lostq.Complete */ lost FORCE INDEX (PRIMARY)
SET    active = 0,
       complete = 1
WHERE  (id = ?)
AND    active = 1
AND    complete = 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lostq.Fail */
       id
FROM   lost FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    active = 1
AND    complete = 0
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lostq.Fail */ lost FORCE INDEX (PRIMARY)
SET    active = 0
WHERE  (id = ?)
AND    active = 1
AND    complete = 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lostq.Requeue */
       id
FROM   lost FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    active = 1
AND    complete = 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lostq.Requeue */ lost FORCE INDEX (PRIMARY)
SET    active = 0
WHERE  (id = ?)
AND    active = 1
AND    complete = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (active, complete)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lostq.Purge */ lost
FROM   (
           SELECT id
           FROM   lost
           WHERE  active = 0
           AND    complete = 1
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN lost ON lost.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Task
INSERT /* lostq.Enqueue */ INTO lost
       (task)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Task
INSERT /* lostq.EnqueueMany */ INTO lost
       (task)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* lostq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lostq.Stats */
       count(CASE WHEN active = 0 AND complete = 0 THEN 1 END) AS ready,
       count(CASE WHEN active = 1 AND complete = 0 THEN 1 END) AS running,
       count(CASE WHEN active = 0 AND complete = 1 THEN 1 END) AS done
FROM   lost;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (active, complete)
SELECT /* lostq.Backlog */
       count(*) AS ready
FROM   lost
WHERE  active = 0
AND    complete = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (active, complete); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lostq.Peek */
       id, task
FROM   lost
WHERE  active = 0
AND    complete = 0
ORDER  BY (field(task, 'repair', 'verify')), id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lostq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 5.7')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 50700;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lostq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'task', 'varchar' UNION ALL
           SELECT 'active', 'int' UNION ALL
           SELECT 'complete', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'lost'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* lostq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'lost'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lostq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'lost_ready' AS name, 'active, complete' AS columns, 'active, complete' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'lost'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted: no index gives their order
ALTER TABLE lost ADD INDEX lost_ready (active, complete), ALGORITHM=INPLACE, LOCK=NONE;
