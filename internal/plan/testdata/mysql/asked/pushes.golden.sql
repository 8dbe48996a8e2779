-- Package pushesq uses the table pushes as a queue of jobs on MySQL 9.7 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pushes_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 9.7 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, name; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=update changes the row that is like a new job in name (primary key): run_at = ({new}.run_at), pause = ({new}.pause), last = ({new}.last)
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, name)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pushesq.Claim */
       name, CAST(UNIX_TIMESTAMP(run_at) * 1000000 AS SIGNED), pause
FROM   pushes
WHERE  state = 0
AND    (run_at <= NOW(6) OR run_at IS NULL)
ORDER  BY name
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Name
UPDATE /* pushesq.Claim */ pushes FORCE INDEX (PRIMARY)
SET    state = 1
WHERE  (name IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Name
SELECT /* pushesq.Complete */
       name
FROM   pushes FORCE INDEX (PRIMARY)
WHERE  (name IN (?))
AND    state = 1
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Name
DELETE /* pushesq.Complete */ pushes
FROM   pushes FORCE INDEX (PRIMARY)
WHERE  (name IN (?))
AND    state = 1;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Name
SELECT /* pushesq.Fail */
       name
FROM   pushes FORCE INDEX (PRIMARY)
WHERE  (name IN (?))
AND    state = 1
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list Name
UPDATE /* pushesq.Fail */ pushes FORCE INDEX (PRIMARY)
SET    state = 0,
       run_at = GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone))
WHERE  (name IN (?))
AND    state = 1;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Name
SELECT /* pushesq.Requeue */
       name
FROM   pushes FORCE INDEX (PRIMARY)
WHERE  (name IN (?))
AND    state = 1
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: delay, 4: list Name
UPDATE /* pushesq.Requeue */ pushes FORCE INDEX (PRIMARY)
SET    state = 0,
       run_at = CASE WHEN ? > 0.0 THEN GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone)) ELSE run_at END
WHERE  (name IN (?))
AND    state = 1;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in name (primary key)
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new Name, 2: new Pause, 3: new Pause, 4: new Delay, 5: new Delay
INSERT /* pushesq.Enqueue */ INTO pushes
       (name, run_at, pause, last)
VALUES (?, (NOW(6) + INTERVAL ? SECOND), ?,
        GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone))) AS new
ON     DUPLICATE KEY UPDATE
       run_at = (new.run_at),
       pause = (new.pause),
       last = (new.last);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pushesq.Stats */
       count(CASE WHEN state = 0 AND (run_at <= NOW(6) OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 0 AND run_at > NOW(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 0 AND (run_at <= NOW(6) OR run_at IS NULL) THEN run_at END), NOW(6)) / 1000000 AS oldest_ready
FROM   pushes;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, name)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pushesq.Peek */
       name, CAST(UNIX_TIMESTAMP(run_at) * 1000000 AS SIGNED), pause
FROM   pushes
WHERE  state = 0
AND    (run_at <= NOW(6) OR run_at IS NULL)
ORDER  BY name
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pushesq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 9.7')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 90700;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pushesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'name' AS name, 'varchar' AS type UNION ALL
           SELECT 'state', 'int' UNION ALL
           SELECT 'run_at', 'timestamp' UNION ALL
           SELECT 'pause', 'int' UNION ALL
           SELECT 'last', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'pushes'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* pushesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'pushes'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pushesq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'pushes_ready' AS name, 'state, name' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'pushes'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over
ALTER TABLE pushes ADD INDEX pushes_ready (state, name), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
