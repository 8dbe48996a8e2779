-- Package tasksq uses the table tasks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
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
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no column says when a claim in column "fetched" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: a row whose claim has run out is claimed again, since nothing but column "fetched" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "attempts" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (completed, id)
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
SELECT /* tasksq.Claim */
       id, CAST(UTC_TIMESTAMP(3) AS CHAR), attempts + 1
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  completed IS NULL
AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND OR fetched IS NULL)
AND    attempts < 3
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Fetched, 2: list ID
UPDATE /* tasksq.Claim */ tasks FORCE INDEX (PRIMARY)
SET    fetched = ?,
       completed = NULL,
       attempts = attempts + 1
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* tasksq.Complete */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
UPDATE /* tasksq.Complete */ tasks FORCE INDEX (PRIMARY)
SET    completed = UTC_TIMESTAMP(3)
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    fetched = NULL,
       completed = NULL
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    fetched = NULL,
       completed = NULL
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* tasksq.Requeue */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
UPDATE /* tasksq.Requeue */ tasks FORCE INDEX (PRIMARY)
SET    fetched = NULL,
       completed = NULL,
       attempts = attempts - 1
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* tasksq.Extend */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
UPDATE /* tasksq.Extend */ tasks FORCE INDEX (PRIMARY)
SET    fetched = UTC_TIMESTAMP(3)
WHERE  ((id, attempts) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (completed, id); it reads others as well
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
UPDATE /* tasksq.Redrive */ (
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND OR fetched IS NULL)
           AND    attempts >= 3
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id
SET    fetched = NULL,
       completed = NULL,
       attempts = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (completed, id)
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  completed IS NOT NULL
           AND    completed <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (completed, id); it reads others as well
-- isolation: read committed
-- arguments: 1: timeout, 2: older, 3: limit
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND OR fetched IS NULL)
           AND    attempts >= 3
           AND    fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* tasksq.Enqueue */ INTO tasks
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout, 2: timeout, 3: timeout, 4: timeout, 5: timeout
SELECT /* tasksq.Stats */
       count(CASE WHEN completed IS NULL AND (fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND OR fetched IS NULL) AND attempts < 3 THEN 1 END) AS ready,
       count(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched > UTC_TIMESTAMP(6) - INTERVAL ? SECOND THEN 1 END) AS running,
       count(CASE WHEN completed IS NOT NULL THEN 1 END) AS done,
       count(CASE WHEN completed IS NULL AND (fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND OR fetched IS NULL) AND attempts >= 3 THEN 1 END) AS failed,
       count(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched > UTC_TIMESTAMP(6) - INTERVAL ? SECOND THEN fetched END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (completed, id); it reads others as well
-- arguments: 1: timeout
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  completed IS NULL
AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND OR fetched IS NULL)
AND    attempts < 3;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (completed, id)
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
SELECT /* tasksq.Peek */
       id, attempts
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  completed IS NULL
AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND OR fetched IS NULL)
AND    attempts < 3
ORDER  BY id
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
           SELECT 'fetched', 'datetime' UNION ALL
           SELECT 'completed', 'datetime' UNION ALL
           SELECT 'attempts', 'int'
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
           SELECT 'tasks_ready' AS name, 'completed, id' AS columns, 'completed' AS least
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

-- serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over
ALTER TABLE tasks ADD INDEX tasks_ready (completed, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
