-- Package laravelq uses the table jobs as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "reserved_at" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "available_at" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "attempts" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: warning: column "attempts" ends at 255, and a row that was tried so often makes every claim fail that meets it: say max=

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: jobs_queue_index (queue)
-- isolation: read committed
-- arguments: 1: param queue string, 2: limit
SELECT /* laravelq.Claim */
       id
FROM   jobs FORCE INDEX (jobs_queue_index)
WHERE  (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL)
AND    available_at <= UNIX_TIMESTAMP()
AND    queue = ?
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* laravelq.Claim */ jobs FORCE INDEX (PRIMARY)
SET    attempts = attempts + 1,
       reserved_at = UNIX_TIMESTAMP()
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* laravelq.Claim */
       id, queue, payload, attempts, reserved_at, available_at, created_at
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* laravelq.Complete */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
DELETE /* laravelq.Complete */ jobs
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* laravelq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Attempts
UPDATE /* laravelq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    reserved_at = NULL,
       available_at = FLOOR(UNIX_TIMESTAMP() + ?)
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* laravelq.Requeue */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Attempts
UPDATE /* laravelq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    attempts = attempts - 1,
       reserved_at = NULL,
       available_at = CASE WHEN ? > 0.0 THEN FLOOR(UNIX_TIMESTAMP() + ?) ELSE available_at END
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
SELECT /* laravelq.Extend */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Attempts
UPDATE /* laravelq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    reserved_at = UNIX_TIMESTAMP()
WHERE  ((id, attempts) IN ((?, ?)))
AND    reserved_at IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Queue, 2: new Payload, 3: new AvailableAt
INSERT /* laravelq.Enqueue */ INTO jobs
       (queue, payload, attempts, available_at, created_at)
VALUES (?, ?, 0, coalesce(?, UNIX_TIMESTAMP()), UNIX_TIMESTAMP());

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Queue Payload AvailableAt
INSERT /* laravelq.EnqueueMany */ INTO jobs
       (queue, payload, attempts, available_at, created_at)
VALUES (?, ?, 0, coalesce(?, UNIX_TIMESTAMP()), UNIX_TIMESTAMP());

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* laravelq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* laravelq.Stats */
       count(CASE WHEN (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL) AND available_at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN reserved_at IS NOT NULL AND reserved_at > FLOOR(UNIX_TIMESTAMP() - 90) THEN 1 END) AS running,
       count(CASE WHEN available_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       count(CASE WHEN reserved_at IS NOT NULL AND reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL) AND available_at <= UNIX_TIMESTAMP() THEN created_at END) AS SIGNED) AS oldest_ready,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN reserved_at IS NOT NULL AND reserved_at > FLOOR(UNIX_TIMESTAMP() - 90) THEN reserved_at END) AS SIGNED) AS oldest_running
FROM   jobs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue is for
-- locks: none
-- index: jobs_queue_index (queue)
-- arguments: 1: param queue string
SELECT /* laravelq.StatsOf */
       count(CASE WHEN (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL) AND available_at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN reserved_at IS NOT NULL AND reserved_at > FLOOR(UNIX_TIMESTAMP() - 90) THEN 1 END) AS running,
       count(CASE WHEN available_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       count(CASE WHEN reserved_at IS NOT NULL AND reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL) AND available_at <= UNIX_TIMESTAMP() THEN created_at END) AS SIGNED) AS oldest_ready,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN reserved_at IS NOT NULL AND reserved_at > FLOOR(UNIX_TIMESTAMP() - 90) THEN reserved_at END) AS SIGNED) AS oldest_running
FROM   jobs
WHERE  queue = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue
-- locks: none
-- index: none; it reads the whole table
SELECT /* laravelq.Backlog */
       queue,
       count(CASE WHEN (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL) AND available_at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN available_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL) AND available_at <= UNIX_TIMESTAMP() THEN created_at END) AS SIGNED) AS oldest_ready
FROM   jobs USE INDEX FOR GROUP BY ()
GROUP  BY queue
HAVING count(CASE WHEN (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL) AND available_at <= UNIX_TIMESTAMP() THEN 1 END) > 0
OR     count(CASE WHEN available_at > UNIX_TIMESTAMP() THEN 1 END) > 0
ORDER  BY queue;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: jobs_queue_index (queue)
-- isolation: read committed
-- arguments: 1: param queue string, 2: limit
SELECT /* laravelq.Peek */
       id, queue, payload, attempts, available_at, created_at
FROM   jobs FORCE INDEX (jobs_queue_index)
WHERE  (reserved_at <= FLOOR(UNIX_TIMESTAMP() - 90) OR reserved_at IS NULL)
AND    available_at <= UNIX_TIMESTAMP()
AND    queue = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* laravelq.Verify */
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
SELECT /* laravelq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'queue', 'varchar' UNION ALL
           SELECT 'payload', 'longtext' UNION ALL
           SELECT 'attempts', 'tinyint unsigned' UNION ALL
           SELECT 'reserved_at', 'int unsigned' UNION ALL
           SELECT 'available_at', 'int unsigned' UNION ALL
           SELECT 'created_at', 'int unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* laravelq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'jobs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* laravelq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_queue_index' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'jobs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: jobs_queue_index serves already
