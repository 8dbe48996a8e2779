-- Package backgroundtasksq uses the table background_tasks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, when its claim has run out
-- 	running  --Requeue---------> ready
-- 	running  --Stays-----------> ready, when its claim has run out
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: on retry, column "claimed_time" gets now as qgen:on says, not 0 as qgen:claimed would
-- note: rows are taken as they came, by column "id_task"
-- note: the fence compares column "claimed_time", which counts whole seconds: two claims within one second look alike

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id_task)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* backgroundtasksq.Claim */
       id_task, task_data, UNIX_TIMESTAMP()
FROM   background_tasks FORCE INDEX (`PRIMARY`)
WHERE  (claimed_time <= FLOOR(UNIX_TIMESTAMP() - 300) OR claimed_time = 0)
ORDER  BY id_task
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken ClaimedTime, 2: list IDTask
UPDATE /* backgroundtasksq.Claim */ background_tasks FORCE INDEX (PRIMARY)
SET    claimed_time = ?
WHERE  (id_task IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: claimed_time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
SELECT /* backgroundtasksq.Complete */
       id_task
FROM   background_tasks FORCE INDEX (PRIMARY)
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
DELETE /* backgroundtasksq.Complete */ background_tasks
FROM   background_tasks FORCE INDEX (PRIMARY)
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: claimed_time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
SELECT /* backgroundtasksq.Fail */
       id_task
FROM   background_tasks FORCE INDEX (PRIMARY)
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0
FOR    UPDATE;

-- sql/retry.sql
-- retry: running until the claim has run out
-- fence: claimed_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
UPDATE /* backgroundtasksq.Fail */ background_tasks FORCE INDEX (PRIMARY)
SET    claimed_time = UNIX_TIMESTAMP()
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: claimed_time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
SELECT /* backgroundtasksq.Requeue */
       id_task
FROM   background_tasks FORCE INDEX (PRIMARY)
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
UPDATE /* backgroundtasksq.Requeue */ background_tasks FORCE INDEX (PRIMARY)
SET    claimed_time = 0
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: claimed_time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
SELECT /* backgroundtasksq.Extend */
       id_task
FROM   background_tasks FORCE INDEX (PRIMARY)
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: claimed_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
UPDATE /* backgroundtasksq.Extend */ background_tasks FORCE INDEX (PRIMARY)
SET    claimed_time = UNIX_TIMESTAMP()
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask
SELECT /* backgroundtasksq.Extend */
       id_task, claimed_time
FROM   background_tasks FORCE INDEX (PRIMARY)
WHERE  (id_task IN (?));

-- sql/outcome_stays_lock.sql
-- outcome_stays: locks the rows of jobs whose claims are still theirs, which outcome_stays.sql then writes
-- fence: claimed_time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
SELECT /* backgroundtasksq.Stays */
       id_task
FROM   background_tasks FORCE INDEX (PRIMARY)
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0
FOR    UPDATE;

-- sql/outcome_stays.sql
-- outcome_stays: running until the claim has run out
-- fence: claimed_time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list IDTask ClaimedTime
UPDATE /* backgroundtasksq.Stays */ background_tasks FORCE INDEX (PRIMARY)
SET    claimed_time = UNIX_TIMESTAMP()
WHERE  ((id_task, claimed_time) IN ((?, ?)))
AND    claimed_time <> 0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new TaskData
INSERT /* backgroundtasksq.Enqueue */ INTO background_tasks
       (task_data)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list TaskData
INSERT /* backgroundtasksq.EnqueueMany */ INTO background_tasks
       (task_data)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* backgroundtasksq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* backgroundtasksq.Stats */
       count(CASE WHEN (claimed_time <= FLOOR(UNIX_TIMESTAMP() - 300) OR claimed_time = 0) THEN 1 END) AS ready,
       count(CASE WHEN claimed_time <> 0 AND claimed_time > FLOOR(UNIX_TIMESTAMP() - 300) THEN 1 END) AS running,
       count(CASE WHEN claimed_time <> 0 AND claimed_time <= FLOOR(UNIX_TIMESTAMP() - 300) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN claimed_time <> 0 AND claimed_time > FLOOR(UNIX_TIMESTAMP() - 300) THEN claimed_time END) AS SIGNED) AS oldest_running
FROM   background_tasks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id_task)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* backgroundtasksq.Peek */
       id_task, task_data, claimed_time
FROM   background_tasks FORCE INDEX (`PRIMARY`)
WHERE  (claimed_time <= FLOOR(UNIX_TIMESTAMP() - 300) OR claimed_time = 0)
ORDER  BY id_task
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* backgroundtasksq.Verify */
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
SELECT /* backgroundtasksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id_task' AS name, 'int unsigned' AS type UNION ALL
           SELECT 'task_data', 'mediumtext' UNION ALL
           SELECT 'claimed_time', 'int unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'background_tasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* backgroundtasksq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'background_tasks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* backgroundtasksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'background_tasks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
