-- Package jobsq uses the table background_job as a queue of jobs on MySQL 8 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until the queue late over the same table claims them: nothing here tells that it is gone.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: the fence compares column "time", which counts whole seconds: two claims within one second look alike
-- note: nothing here tells that a worker is gone, and there is no Recover: the rows of a dead worker stay as they are until the queue late over the same table claims them
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: status (status, time)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Claim */
       id, job, UNIX_TIMESTAMP()
FROM   background_job FORCE INDEX (status)
WHERE  status = 'ready'
AND    time <= UNIX_TIMESTAMP()
ORDER  BY time, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Time, 2: list ID
UPDATE /* jobsq.Claim */ background_job FORCE INDEX (PRIMARY)
SET    status = 'processing',
       time = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Time
SELECT /* jobsq.Complete */
       id
FROM   background_job FORCE INDEX (PRIMARY)
WHERE  ((id, time) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Time
DELETE /* jobsq.Complete */ background_job
FROM   background_job FORCE INDEX (PRIMARY)
WHERE  ((id, time) IN ((?, ?)))
AND    status = 'processing';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Time
SELECT /* jobsq.Fail */
       id
FROM   background_job FORCE INDEX (PRIMARY)
WHERE  ((id, time) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Time
DELETE /* jobsq.Fail */ background_job
FROM   background_job FORCE INDEX (PRIMARY)
WHERE  ((id, time) IN ((?, ?)))
AND    status = 'processing';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: time as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Time
SELECT /* jobsq.Requeue */
       id
FROM   background_job FORCE INDEX (PRIMARY)
WHERE  ((id, time) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: time as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Time
UPDATE /* jobsq.Requeue */ background_job FORCE INDEX (PRIMARY)
SET    status = 'ready',
       time = FLOOR(UNIX_TIMESTAMP() + ?)
WHERE  ((id, time) IN ((?, ?)))
AND    status = 'processing';

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Job, 2: new Time
INSERT /* jobsq.Enqueue */ INTO background_job
       (job, time)
VALUES (?, coalesce(?, UNIX_TIMESTAMP()));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Job Time
INSERT /* jobsq.EnqueueMany */ INTO background_job
       (job, time)
VALUES (?, coalesce(?, UNIX_TIMESTAMP()));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* jobsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN status = 'ready' AND time <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN status = 'processing' THEN 1 END) AS running,
       count(CASE WHEN status = 'ready' AND time > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN status = 'ready' AND time <= UNIX_TIMESTAMP() THEN time END) AS SIGNED) AS oldest_ready,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN status = 'processing' THEN time END) AS SIGNED) AS oldest_running
FROM   background_job;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: status (status, time)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, job, time
FROM   background_job FORCE INDEX (status)
WHERE  status = 'ready'
AND    time <= UNIX_TIMESTAMP()
ORDER  BY time, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'job', 'blob' UNION ALL
           SELECT 'status', 'enum' UNION ALL
           SELECT 'time', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'background_job'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'background_job'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'status' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'background_job'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: status serves already
