-- Package tasksq uses the table tasks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	done     --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time (and worker) of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It reads candidates and takes them one by one, each by an UPDATE that compares the old state; the engine locks the table while one runs, and a caller's transaction cannot take it back. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- The table is of the engine MyISAM, which has no transactions and locks no rows: what is written stays written, whatever becomes of the transaction of the caller's. The package works over InnoDB as well, and Verify takes that; generated again from such a DDL it settles many jobs at once.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready.
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
--   lock_update  the engine MyISAM has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
--   advisory     MySQL has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          the engine MyISAM has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
-- note: column "deadline" is NOT NULL, so a row is given back by a lease that ends now (free=now)
-- note: the fence compares column "deadline", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (locked, error, completed); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Claim */
       id
FROM   tasks
WHERE  completed IS NULL
AND    locked = 0
AND    error = 0
ORDER  BY priority DESC, id
LIMIT  ?;

-- sql/claim.sql
-- claim: ready to running, of one of the rows that claim_pick.sql named, unless somebody took it since
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Claim */ tasks FORCE INDEX (PRIMARY)
SET    deadline = GREATEST(NOW(6) + INTERVAL 3600 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 3600 SECOND, '+00:00', @@time_zone)),
       locked = 1
WHERE  (id IN (?))
AND    completed IS NULL
AND    locked = 0
AND    error = 0;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Claim */
       id, priority, CAST(deadline AS CHAR)
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_held.sql
-- complete: reads whether the claim is still the caller's, where complete.sql changed nothing
-- fence: deadline as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* tasksq.Complete */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/complete.sql
-- complete: running to done
-- fence: deadline as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
UPDATE /* tasksq.Complete */ tasks FORCE INDEX (PRIMARY)
SET    deadline = NOW(0),
       completed = NOW(0),
       locked = 0
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/fail_held.sql
-- fail: reads whether the claim is still the caller's, where fail.sql changed nothing
-- fence: deadline as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/fail.sql
-- fail: running to failed
-- fence: deadline as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    deadline = NOW(0),
       locked = 0,
       error = 1
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/requeue_held.sql
-- requeue: reads whether the claim is still the caller's, where requeue.sql changed nothing
-- fence: deadline as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* tasksq.Requeue */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: deadline as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
UPDATE /* tasksq.Requeue */ tasks FORCE INDEX (PRIMARY)
SET    deadline = NOW(0),
       locked = 0
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/extend_held.sql
-- extend: reads whether the claim is still the caller's, where extend.sql changed nothing
-- fence: deadline as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* tasksq.Extend */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: deadline as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
UPDATE /* tasksq.Extend */ tasks FORCE INDEX (PRIMARY)
SET    deadline = GREATEST(NOW(6) + INTERVAL 3600 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 3600 SECOND, '+00:00', @@time_zone))
WHERE  ((id, deadline) IN ((?, ?)))
AND    locked = 1
AND    error = 0;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Extend */
       id, CAST(deadline AS CHAR)
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed
-- locks: the table, while the statement runs
-- index: (locked, error, completed), which finds the rows that somebody has by locked, error
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ (
           SELECT id
           FROM   tasks
           WHERE  locked = 1
           AND    error = 0
           AND    deadline <= NOW(6)
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id
SET    deadline = NOW(0),
       locked = 0,
       error = 1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the table, while the statement runs
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ (
           SELECT id
           FROM   tasks
           WHERE  error = 1
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id
SET    deadline = NOW(0),
       completed = NULL,
       locked = 0,
       error = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the table, while the statement runs
-- index: (locked, error, completed)
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  completed IS NOT NULL
           AND    locked = 0
           AND    error = 0
           AND    completed <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the table, while the statement runs
-- arguments: 1: new Priority
INSERT /* tasksq.Enqueue */ INTO tasks
       (priority, deadline)
VALUES (coalesce(?, 5), NOW(0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the table, while the statement runs
-- arguments: 1: new_list Priority
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (priority, deadline)
VALUES (coalesce(?, 5), NOW(0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* tasksq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(CASE WHEN completed IS NULL AND locked = 0 AND error = 0 THEN 1 END) AS ready,
       count(CASE WHEN locked = 1 AND error = 0 THEN 1 END) AS running,
       count(CASE WHEN completed IS NOT NULL AND locked = 0 AND error = 0 THEN 1 END) AS done,
       count(CASE WHEN error = 1 THEN 1 END) AS failed,
       count(CASE WHEN locked = 1 AND error = 0 AND deadline <= NOW(6) THEN 1 END) AS expired
FROM   tasks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (locked, error, completed); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, priority, CAST(deadline AS CHAR)
FROM   tasks
WHERE  completed IS NULL
AND    locked = 0
AND    error = 0
ORDER  BY priority DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
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
SELECT /* tasksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'priority', 'tinyint' UNION ALL
           SELECT 'deadline', 'datetime' UNION ALL
           SELECT 'completed', 'datetime' UNION ALL
           SELECT 'locked', 'tinyint unsigned' UNION ALL
           SELECT 'error', 'tinyint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* tasksq.Verify */
       'binlog_format is STATEMENT, which refuses writes to an InnoDB table at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'tasks'
AND    have.engine = 'InnoDB'
AND    @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock Deadline
SELECT /* tasksq.Verify */
       CONCAT('the clock of the database reads ', CAST(NOW(6) AS CHAR), ', and that of the program does not')
FROM   DUAL
WHERE  TIMESTAMPDIFF(MICROSECOND, ?, NOW(6)) / 1000000 NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'tasks_ready' AS name, 'locked, error, completed' AS columns, 'locked, error, completed' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', '?'), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'tasks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted: the engine MyISAM has no index with columns in falling order; it also serves Recover: rows that somebody has, which are few
ALTER TABLE tasks ADD INDEX tasks_ready USING BTREE (locked, error, completed);
