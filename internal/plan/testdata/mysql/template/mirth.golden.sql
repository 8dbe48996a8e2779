-- Package mirthq uses the table d_mm{{.Channel}} as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates d_mm{{.Channel}}_mirth_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: tries have no limit, so Fail always puts the job back (max= or a column of limits at qgen:attempts, or an outcome to failed)
-- note: no order is said: rows are taken in the order of the key, message_id, id

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: param serverID string, 2: held_list MessageID ID, 3: limit
SELECT /* mirthq.Claim */
       message_id, id, server_id, send_attempts
FROM   d_mm{{.Channel}} IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'Q'
AND    server_id = ?
AND    NOT (message_id = ? AND id = ?)
ORDER  BY message_id, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/payload.sql
-- payload: what claimed jobs have in d_mc{{.Channel}}
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
SELECT /* mirthq.Payload */
       queue_row.message_id, queue_row.id, c.content
FROM   d_mm{{.Channel}} queue_row FORCE INDEX (PRIMARY)
       LEFT JOIN d_mc{{.Channel}} c
       ON  (c.message_id = queue_row.message_id and c.metadata_id = queue_row.id and c.content_type = 4)
WHERE  ((queue_row.message_id, queue_row.id) IN ((?, ?)));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
SELECT /* mirthq.Complete */
       message_id, id
FROM   d_mm{{.Channel}} FORCE INDEX (PRIMARY)
WHERE  ((message_id, id) IN ((?, ?)))
AND    status = 'Q'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
UPDATE /* mirthq.Complete */ d_mm{{.Channel}} FORCE INDEX (PRIMARY)
SET    status = 'S'
WHERE  ((message_id, id) IN ((?, ?)))
AND    status = 'Q';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
SELECT /* mirthq.Fail */
       message_id, id
FROM   d_mm{{.Channel}} FORCE INDEX (PRIMARY)
WHERE  ((message_id, id) IN ((?, ?)))
AND    status = 'Q'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
UPDATE /* mirthq.Fail */ d_mm{{.Channel}} FORCE INDEX (PRIMARY)
SET    send_attempts = send_attempts + 1
WHERE  ((message_id, id) IN ((?, ?)))
AND    status = 'Q';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mirthq.Redrive */ (
           SELECT message_id, id
           FROM   d_mm{{.Channel}}
           WHERE  status = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN d_mm{{.Channel}} ON d_mm{{.Channel}}.message_id = picked.message_id
                               AND    d_mm{{.Channel}}.id = picked.id
SET    status = 'Q',
       send_attempts = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mirthq.Purge */ d_mm{{.Channel}}
FROM   (
           SELECT message_id, id
           FROM   d_mm{{.Channel}}
           WHERE  status = 'S'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN d_mm{{.Channel}} ON d_mm{{.Channel}}.message_id = picked.message_id
                               AND    d_mm{{.Channel}}.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mirthq.Purge */ d_mm{{.Channel}}
FROM   (
           SELECT message_id, id
           FROM   d_mm{{.Channel}}
           WHERE  status = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN d_mm{{.Channel}} ON d_mm{{.Channel}}.message_id = picked.message_id
                               AND    d_mm{{.Channel}}.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID
INSERT /* mirthq.Enqueue */ INTO d_mm{{.Channel}}
       (message_id, id, server_id, status)
VALUES (?, ?, ?, 'Q');

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list MessageID ID ServerID
INSERT /* mirthq.EnqueueMany */ INTO d_mm{{.Channel}}
       (message_id, id, server_id, status)
VALUES (?, ?, ?, 'Q');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mirthq.Stats */
       count(CASE WHEN status = 'Q' THEN 1 END) AS ready,
       count(CASE WHEN status = 'S' THEN 1 END) AS done,
       count(CASE WHEN status = 'E' THEN 1 END) AS failed
FROM   d_mm{{.Channel}};

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same server_id is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param serverID string
SELECT /* mirthq.StatsOf */
       count(CASE WHEN status = 'Q' THEN 1 END) AS ready,
       count(CASE WHEN status = 'S' THEN 1 END) AS done,
       count(CASE WHEN status = 'E' THEN 1 END) AS failed
FROM   d_mm{{.Channel}}
WHERE  server_id = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by server_id
-- locks: none
-- index: (status, server_id, message_id, id)
SELECT /* mirthq.Backlog */
       server_id,
       count(*) AS ready
FROM   d_mm{{.Channel}}
WHERE  status = 'Q'
GROUP  BY server_id
ORDER  BY server_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: param serverID string, 2: limit
SELECT /* mirthq.Peek */
       message_id, id, server_id, send_attempts
FROM   d_mm{{.Channel}} IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'Q'
AND    server_id = ?
ORDER  BY message_id, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mirthq.Verify */
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
SELECT /* mirthq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'message_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'id', 'int' UNION ALL
           SELECT 'server_id', 'varchar' UNION ALL
           SELECT 'status', 'char' UNION ALL
           SELECT 'send_attempts', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'd_mm{{.Channel}}'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of d_mc{{.Channel}}
-- locks: none
SELECT /* mirthq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'content' AS name, 'text' AS type
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'd_mc{{.Channel}}'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mirthq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'd_mm{{.Channel}}'
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
SELECT /* mirthq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'd_mm{{.Channel}}_mirth_ready' AS name, 'status, server_id, message_id, id' AS columns, 'status, server_id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'd_mm{{.Channel}}'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE d_mm{{.Channel}} ADD INDEX d_mm{{.Channel}}_mirth_ready (status, server_id, message_id, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
