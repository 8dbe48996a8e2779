-- Package topicsq uses the table topics as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates topics_ready.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, id
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (topic(191), id)
-- isolation: read committed
-- arguments: 1: param topic string, 2: limit
SELECT /* topicsq.Claim */
       id, topic,
       CAST(UNIX_TIMESTAMP(GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))) * 1000000 AS SIGNED)
FROM   topics IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (till <= NOW(6) OR till IS NULL)
AND    topic = ?
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* topicsq.Claim */ topics FORCE INDEX (PRIMARY)
SET    till = FROM_UNIXTIME(? * 0.000001)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* topicsq.Complete */
       id
FROM   topics FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
DELETE /* topicsq.Complete */ topics
FROM   topics FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* topicsq.Fail */
       id
FROM   topics FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* topicsq.Fail */ topics FORCE INDEX (PRIMARY)
SET    till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* topicsq.Requeue */
       id
FROM   topics FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* topicsq.Requeue */ topics FORCE INDEX (PRIMARY)
SET    till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* topicsq.Extend */
       id
FROM   topics FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* topicsq.Extend */ topics FORCE INDEX (PRIMARY)
SET    till = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    till IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* topicsq.Extend */
       id, CAST(UNIX_TIMESTAMP(till) * 1000000 AS SIGNED)
FROM   topics FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Topic
INSERT /* topicsq.Enqueue */ INTO topics
       (id, topic)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID Topic
INSERT /* topicsq.EnqueueMany */ INTO topics
       (id, topic)
VALUES (?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* topicsq.Stats */
       count(CASE WHEN (till <= NOW(6) OR till IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN till IS NOT NULL AND till > NOW(6) THEN 1 END) AS running,
       count(CASE WHEN till IS NOT NULL AND till <= NOW(6) THEN 1 END) AS expired
FROM   topics;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same topic is for
-- locks: none
-- index: (topic(191), id)
-- arguments: 1: param topic string
SELECT /* topicsq.StatsOf */
       count(CASE WHEN (till <= NOW(6) OR till IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN till IS NOT NULL AND till > NOW(6) THEN 1 END) AS running,
       count(CASE WHEN till IS NOT NULL AND till <= NOW(6) THEN 1 END) AS expired
FROM   topics
WHERE  topic = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by topic
-- locks: none
-- index: none; it reads the whole table
SELECT /* topicsq.Backlog */
       topic,
       count(*) AS ready
FROM   topics
WHERE  (till <= NOW(6) OR till IS NULL)
GROUP  BY topic
ORDER  BY topic;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (topic(191), id)
-- isolation: read committed
-- arguments: 1: param topic string, 2: limit
SELECT /* topicsq.Peek */
       id, topic
FROM   topics IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (till <= NOW(6) OR till IS NULL)
AND    topic = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* topicsq.Verify */
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
SELECT /* topicsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'topic', 'text' UNION ALL
           SELECT 'till', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'topics'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* topicsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'topics'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* topicsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'topics_ready' AS name, 'topic(191), id' AS columns, 'topic(191)' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'topics'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE topics ADD INDEX topics_ready (topic(191), id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
