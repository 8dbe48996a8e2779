-- Package pathsq uses the table paths as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates paths_ready.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, bucket); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param bucket string, 2: limit
SELECT /* pathsq.Claim */
       id, bucket, path,
       CAST(UNIX_TIMESTAMP(GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))) * 1000000 AS SIGNED)
FROM   paths
WHERE  state = 'r'
AND    bucket = ?
ORDER  BY path, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* pathsq.Claim */ paths FORCE INDEX (PRIMARY)
SET    state = 'x',
       till = FROM_UNIXTIME(? * 0.000001)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* pathsq.Complete */
       id
FROM   paths FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* pathsq.Complete */ paths FORCE INDEX (PRIMARY)
SET    state = 'd',
       till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* pathsq.Fail */
       id
FROM   paths FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* pathsq.Fail */ paths FORCE INDEX (PRIMARY)
SET    state = 'r',
       till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* pathsq.Requeue */
       id
FROM   paths FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* pathsq.Requeue */ paths FORCE INDEX (PRIMARY)
SET    state = 'r',
       till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* pathsq.Extend */
       id
FROM   paths FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* pathsq.Extend */ paths FORCE INDEX (PRIMARY)
SET    till = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pathsq.Extend */
       id, CAST(UNIX_TIMESTAMP(till) * 1000000 AS SIGNED)
FROM   paths FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, bucket), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* pathsq.Recover */ (
           SELECT id
           FROM   paths
           WHERE  state = 'x'
           AND    till <= NOW(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN paths ON paths.id = picked.id
SET    state = 'r',
       till = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, bucket)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* pathsq.Purge */ paths
FROM   (
           SELECT id
           FROM   paths
           WHERE  state = 'd'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN paths ON paths.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Bucket, 3: new Path
INSERT /* pathsq.Enqueue */ INTO paths
       (id, bucket, path)
VALUES (?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID Bucket Path
INSERT /* pathsq.EnqueueMany */ INTO paths
       (id, bucket, path)
VALUES (?, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pathsq.Stats */
       count(CASE WHEN state = 'r' THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running,
       count(CASE WHEN state = 'd' THEN 1 END) AS done,
       count(CASE WHEN state = 'x' AND till <= NOW(6) THEN 1 END) AS expired
FROM   paths;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same bucket is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param bucket string
SELECT /* pathsq.StatsOf */
       count(CASE WHEN state = 'r' THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running,
       count(CASE WHEN state = 'd' THEN 1 END) AS done,
       count(CASE WHEN state = 'x' AND till <= NOW(6) THEN 1 END) AS expired
FROM   paths
WHERE  bucket = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by bucket
-- locks: none
-- index: (state, bucket)
SELECT /* pathsq.Backlog */
       bucket,
       count(*) AS ready
FROM   paths
WHERE  state = 'r'
GROUP  BY bucket
ORDER  BY bucket;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, bucket); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param bucket string, 2: limit
SELECT /* pathsq.Peek */
       id, bucket, path
FROM   paths
WHERE  state = 'r'
AND    bucket = ?
ORDER  BY path, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pathsq.Verify */
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
SELECT /* pathsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'bucket', 'varchar' UNION ALL
           SELECT 'path', 'varchar' UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'till', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'paths'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* pathsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'paths'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pathsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'paths_ready' AS name, 'state, bucket' AS columns, 'state, bucket' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'paths'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted: path, id would make the index longer than the server takes; it also serves Recover: rows that somebody has, which are few
ALTER TABLE paths ADD INDEX paths_ready (state, bucket), ALGORITHM=INPLACE, LOCK=NONE;
