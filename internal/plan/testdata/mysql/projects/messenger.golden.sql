-- Package messengerq uses the table messenger_messages as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates messenger_messages_ready.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "delivered_at" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "available_at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "delivered_at", which counts whole seconds: two claims within one second look alike

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (queue_name, id)
-- isolation: read committed
-- arguments: 1: param queueName string, 2: limit
SELECT /* messengerq.Claim */
       id, body, headers, queue_name, CAST(created_at AS CHAR), CAST(available_at AS CHAR),
       CAST(UTC_TIMESTAMP(0) AS CHAR)
FROM   messenger_messages IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL)
AND    available_at <= UTC_TIMESTAMP(6)
AND    queue_name = ?
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken DeliveredAt, 2: list ID
UPDATE /* messengerq.Claim */ messenger_messages FORCE INDEX (PRIMARY)
SET    delivered_at = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: delivered_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID DeliveredAt
SELECT /* messengerq.Complete */
       id
FROM   messenger_messages FORCE INDEX (PRIMARY)
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: delivered_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID DeliveredAt
DELETE /* messengerq.Complete */ messenger_messages
FROM   messenger_messages FORCE INDEX (PRIMARY)
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: delivered_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID DeliveredAt
SELECT /* messengerq.Fail */
       id
FROM   messenger_messages FORCE INDEX (PRIMARY)
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: delivered_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID DeliveredAt
UPDATE /* messengerq.Fail */ messenger_messages FORCE INDEX (PRIMARY)
SET    available_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       delivered_at = NULL
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: delivered_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID DeliveredAt
SELECT /* messengerq.Requeue */
       id
FROM   messenger_messages FORCE INDEX (PRIMARY)
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: delivered_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID DeliveredAt
UPDATE /* messengerq.Requeue */ messenger_messages FORCE INDEX (PRIMARY)
SET    available_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE available_at END,
       delivered_at = NULL
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: delivered_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID DeliveredAt
SELECT /* messengerq.Extend */
       id
FROM   messenger_messages FORCE INDEX (PRIMARY)
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: delivered_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID DeliveredAt
UPDATE /* messengerq.Extend */ messenger_messages FORCE INDEX (PRIMARY)
SET    delivered_at = UTC_TIMESTAMP(0)
WHERE  ((id, delivered_at) IN ((?, ?)))
AND    delivered_at IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* messengerq.Extend */
       id, CAST(delivered_at AS CHAR)
FROM   messenger_messages FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Body, 2: new Headers, 3: new QueueName, 4: new AvailableAt
INSERT /* messengerq.Enqueue */ INTO messenger_messages
       (body, headers, queue_name, created_at, available_at)
VALUES (?, ?, ?, UTC_TIMESTAMP(0), coalesce(?, UTC_TIMESTAMP(0)));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body Headers QueueName AvailableAt
INSERT /* messengerq.EnqueueMany */ INTO messenger_messages
       (body, headers, queue_name, created_at, available_at)
VALUES (?, ?, ?, UTC_TIMESTAMP(0), coalesce(?, UTC_TIMESTAMP(0)));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* messengerq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* messengerq.Stats */
       count(CASE WHEN (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL) AND available_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN delivered_at IS NOT NULL AND delivered_at > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS running,
       count(CASE WHEN available_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN delivered_at IS NOT NULL AND delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL) AND available_at <= UTC_TIMESTAMP(6) THEN created_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN delivered_at IS NOT NULL AND delivered_at > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN delivered_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   messenger_messages;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue_name is for
-- locks: none
-- index: IDX_75EA56E0FB7336F0E3BD61CE16BA31DBBF396750 (queue_name, available_at, delivered_at, id)
-- arguments: 1: param queueName string
SELECT /* messengerq.StatsOf */
       count(CASE WHEN (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL) AND available_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN delivered_at IS NOT NULL AND delivered_at > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS running,
       count(CASE WHEN available_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN delivered_at IS NOT NULL AND delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL) AND available_at <= UTC_TIMESTAMP(6) THEN created_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN delivered_at IS NOT NULL AND delivered_at > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN delivered_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   messenger_messages
WHERE  queue_name = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue_name
-- locks: none
-- index: none; it reads the whole table
SELECT /* messengerq.Backlog */
       queue_name,
       count(CASE WHEN (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL) AND available_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN available_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL) AND available_at <= UTC_TIMESTAMP(6) THEN created_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   messenger_messages USE INDEX FOR GROUP BY ()
GROUP  BY queue_name
HAVING count(CASE WHEN (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL) AND available_at <= UTC_TIMESTAMP(6) THEN 1 END) > 0
OR     count(CASE WHEN available_at > UTC_TIMESTAMP(6) THEN 1 END) > 0
ORDER  BY queue_name;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (queue_name, id)
-- isolation: read committed
-- arguments: 1: param queueName string, 2: limit
SELECT /* messengerq.Peek */
       id, body, headers, queue_name, CAST(created_at AS CHAR), CAST(available_at AS CHAR)
FROM   messenger_messages IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (delivered_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR delivered_at IS NULL)
AND    available_at <= UTC_TIMESTAMP(6)
AND    queue_name = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* messengerq.Verify */
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
SELECT /* messengerq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'body', 'longtext' UNION ALL
           SELECT 'headers', 'longtext' UNION ALL
           SELECT 'queue_name', 'varchar' UNION ALL
           SELECT 'created_at', 'datetime' UNION ALL
           SELECT 'available_at', 'datetime' UNION ALL
           SELECT 'delivered_at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'messenger_messages'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* messengerq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'messenger_messages'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* messengerq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'messenger_messages_ready' AS name, 'queue_name, id' AS columns, 'queue_name' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'messenger_messages'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over
ALTER TABLE messenger_messages ADD INDEX messenger_messages_ready (queue_name, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
