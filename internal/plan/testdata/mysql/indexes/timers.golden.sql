-- Package timersq uses the table timers as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  no side table is asked for
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        MySQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (shard, due, id)
-- isolation: read committed
-- arguments: 1: param shardValue int32, 2: held_list Shard Due ID, 3: limit
SELECT /* timersq.Claim */
       shard, CAST(due AS CHAR), id, data
FROM   timers FORCE INDEX (`PRIMARY`)
WHERE  due <= UTC_TIMESTAMP(6)
AND    shard = ?
AND    NOT (shard = ? AND due = ? AND id = ?)
ORDER  BY due, shard, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; data <=> data always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Shard Due ID
SELECT /* timersq.Complete */
       shard, CAST(due AS CHAR), id
FROM   timers FORCE INDEX (PRIMARY)
WHERE  ((shard, due, id) IN ((?, ?, ?)))
AND    due <= UTC_TIMESTAMP(6)
AND    data <=> data
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; data <=> data always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Shard Due ID
DELETE /* timersq.Complete */ timers
FROM   timers FORCE INDEX (PRIMARY)
WHERE  ((shard, due, id) IN ((?, ?, ?)))
AND    due <= UTC_TIMESTAMP(6)
AND    data <=> data;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; data <=> data always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Shard Due ID
SELECT /* timersq.Fail */
       shard, CAST(due AS CHAR), id
FROM   timers FORCE INDEX (PRIMARY)
WHERE  ((shard, due, id) IN ((?, ?, ?)))
AND    due <= UTC_TIMESTAMP(6)
AND    data <=> data
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list Shard Due ID
UPDATE /* timersq.Fail */ timers FORCE INDEX (PRIMARY)
SET    due = UTC_TIMESTAMP(6) + INTERVAL ? SECOND
WHERE  ((shard, due, id) IN ((?, ?, ?)))
AND    due <= UTC_TIMESTAMP(6);

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; data <=> data always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Shard Due ID
SELECT /* timersq.Requeue */
       shard, CAST(due AS CHAR), id
FROM   timers FORCE INDEX (PRIMARY)
WHERE  ((shard, due, id) IN ((?, ?, ?)))
AND    due <= UTC_TIMESTAMP(6)
AND    data <=> data
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list Shard Due ID
UPDATE /* timersq.Requeue */ timers FORCE INDEX (PRIMARY)
SET    due = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE due END
WHERE  ((shard, due, id) IN ((?, ?, ?)))
AND    due <= UTC_TIMESTAMP(6);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Shard, 2: new Due, 3: new ID, 4: new Data
INSERT /* timersq.Enqueue */ INTO timers
       (shard, due, id, data)
VALUES (?, ?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Shard Due ID Data
INSERT /* timersq.EnqueueMany */ INTO timers
       (shard, due, id, data)
VALUES (?, ?, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* timersq.Stats */
       count(CASE WHEN due <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN due <= UTC_TIMESTAMP(6) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   timers;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same shard is for
-- locks: none
-- index: the primary key (shard, due, id)
-- arguments: 1: param shardValue int32
SELECT /* timersq.StatsOf */
       count(CASE WHEN due <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN due <= UTC_TIMESTAMP(6) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   timers
WHERE  shard = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by shard
-- locks: none
-- index: none; it reads the whole table
SELECT /* timersq.Backlog */
       shard,
       count(CASE WHEN due <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN due <= UTC_TIMESTAMP(6) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   timers USE INDEX FOR GROUP BY ()
GROUP  BY shard
ORDER  BY shard;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (shard, due, id)
-- isolation: read committed
-- arguments: 1: param shardValue int32, 2: limit
SELECT /* timersq.Peek */
       shard, CAST(due AS CHAR), id, data
FROM   timers FORCE INDEX (`PRIMARY`)
WHERE  due <= UTC_TIMESTAMP(6)
AND    shard = ?
ORDER  BY due, shard, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* timersq.Verify */
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
SELECT /* timersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'shard' AS name, 'int' AS type UNION ALL
           SELECT 'due', 'datetime' UNION ALL
           SELECT 'id', 'bigint' UNION ALL
           SELECT 'data', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'timers'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* timersq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'timers'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT'
UNION  ALL
SELECT 'the server is one of a cluster, whose nodes do not see each other''s row locks; say cluster: true in qgen.yaml'
FROM   DUAL
WHERE  (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_role = 'PRIMARY') > 1;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* timersq.Verify */
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
                      AND    table_name = 'timers'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
