-- Package tasksq uses the table tasks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Of the jobs that are alike in host, one runs at once; a claim locks the row of hosts that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
--   token        no index can give this order, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for host has it read rows of one group alone

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (active, complete, (field(task, 'repair', 'verify')), id)
-- isolation: read committed
-- arguments: 1: ahead, 2: limit
SELECT /* tasksq.Claim */
       tasks.id
FROM   (
           SELECT id AS candidate_1, (field(task, 'repair', 'verify')) AS candidate_2
           FROM   tasks
           WHERE  active = 0
           AND    complete = 0
           AND    (SELECT 1
               FROM   tasks AS other
               WHERE  other.host = tasks.host
               AND    other.active = 1
               AND    other.complete = 0
               LIMIT  1) IS NULL
           AND    (SELECT 1
               FROM   tasks AS other
               WHERE  other.host = tasks.host
               AND    other.active = 0
               AND    other.complete = 0
               AND    (((field(other.task, 'repair', 'verify')) < (field(tasks.task, 'repair', 'verify')) OR (field(other.task, 'repair', 'verify')) IS NULL AND (field(tasks.task, 'repair', 'verify')) IS NOT NULL) OR ((field(other.task, 'repair', 'verify')) = (field(tasks.task, 'repair', 'verify')) OR (field(other.task, 'repair', 'verify')) IS NULL AND (field(tasks.task, 'repair', 'verify')) IS NULL) AND other.id < tasks.id)
               LIMIT  1) IS NULL
           ORDER  BY candidate_2, id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN tasks FORCE INDEX (PRIMARY) ON tasks.id = candidate.candidate_1
WHERE  tasks.active = 0
AND    tasks.complete = 0
AND    (SELECT 1
               FROM   tasks AS other
               WHERE  other.host = tasks.host
               AND    other.active = 1
               AND    other.complete = 0
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   tasks AS other
               WHERE  other.host = tasks.host
               AND    other.active = 0
               AND    other.complete = 0
               AND    (((field(other.task, 'repair', 'verify')) < (field(tasks.task, 'repair', 'verify')) OR (field(other.task, 'repair', 'verify')) IS NULL AND (field(tasks.task, 'repair', 'verify')) IS NOT NULL) OR ((field(other.task, 'repair', 'verify')) = (field(tasks.task, 'repair', 'verify')) OR (field(other.task, 'repair', 'verify')) IS NULL AND (field(tasks.task, 'repair', 'verify')) IS NULL) AND other.id < tasks.id)
               LIMIT  1) IS NULL
ORDER  BY candidate.candidate_2, candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim_group.sql
-- claim: locks the groups of the rows that claim_lock.sql locked
-- locks: the row of hosts for each group, until commit; passes over groups that are locked
-- index: the key; host <=> host always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Claim */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (SELECT 1
               FROM   hosts
               WHERE  id = tasks.host
               FOR    UPDATE SKIP LOCKED) = 1
AND    host <=> host
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Claim */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (SELECT count(*)
               FROM   tasks AS other
               WHERE  other.host = tasks.host
               AND    other.active = 1
               AND    other.complete = 0) = 0;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Claim */ tasks FORCE INDEX (PRIMARY)
SET    active = 1
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Claim */
       id, host, task
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Complete */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    active = 1
AND    complete = 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Complete */ tasks FORCE INDEX (PRIMARY)
SET    active = 0,
       complete = 1
WHERE  (id IN (?))
AND    active = 1
AND    complete = 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    active = 1
AND    complete = 0
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    active = 0
WHERE  (id IN (?))
AND    active = 1
AND    complete = 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Requeue */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    active = 1
AND    complete = 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Requeue */ tasks FORCE INDEX (PRIMARY)
SET    active = 0
WHERE  (id IN (?))
AND    active = 1
AND    complete = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: tasks_waiting (complete, active, host, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  active = 0
           AND    complete = 1
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Host, 2: new Task
INSERT /* tasksq.Enqueue */ INTO tasks
       (host, task)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Host Task
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (host, task)
VALUES (?, ?);

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
       count(CASE WHEN active = 0 AND complete = 0 THEN 1 END) AS ready,
       count(CASE WHEN active = 1 AND complete = 0 THEN 1 END) AS running,
       count(CASE WHEN active = 0 AND complete = 1 THEN 1 END) AS done
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: tasks_waiting (complete, active, host, id)
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  active = 0
AND    complete = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (active, complete, (field(task, 'repair', 'verify')), id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, host, task
FROM   tasks
WHERE  active = 0
AND    complete = 0
AND    (SELECT 1
               FROM   tasks AS other
               WHERE  other.host = tasks.host
               AND    other.active = 1
               AND    other.complete = 0
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   tasks AS other
               WHERE  other.host = tasks.host
               AND    other.active = 0
               AND    other.complete = 0
               AND    (((field(other.task, 'repair', 'verify')) < (field(tasks.task, 'repair', 'verify')) OR (field(other.task, 'repair', 'verify')) IS NULL AND (field(tasks.task, 'repair', 'verify')) IS NOT NULL) OR ((field(other.task, 'repair', 'verify')) = (field(tasks.task, 'repair', 'verify')) OR (field(other.task, 'repair', 'verify')) IS NULL AND (field(tasks.task, 'repair', 'verify')) IS NULL) AND other.id < tasks.id)
               LIMIT  1) IS NULL
ORDER  BY (field(task, 'repair', 'verify')), id
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
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'host', 'int' UNION ALL
           SELECT 'task', 'varchar' UNION ALL
           SELECT 'active', 'int' UNION ALL
           SELECT 'complete', 'int'
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
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'tasks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'tasks_ready' AS name, '' AS columns, '' AS least UNION ALL
           SELECT 'tasks_waiting', '', ''
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE tasks ADD INDEX tasks_ready (active, complete, (field(task, 'repair', 'verify')), id), ALGORITHM=INPLACE, LOCK=SHARED;

-- serves Claim: who is before a row in its group, and which of them run: tasks_waiting serves already
