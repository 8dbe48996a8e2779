-- Package itemsq uses the table items as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns and those that it reads and passes over, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: held_list ID, 2: limit
SELECT /* itemsq.Claim */
       id, kind, due_at, expires_at, body
FROM   items FORCE INDEX (`PRIMARY`)
WHERE  (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (expires_at > UNIX_TIMESTAMP() OR expires_at IS NULL)
AND    (kind = 'mail')
AND    (not exists (select 1 from holds h where h.item_id = items.id))
AND    NOT (id = ?)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* itemsq.Complete */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (kind = 'mail')
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* itemsq.Complete */ items
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (kind = 'mail');

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* itemsq.Fail */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (kind = 'mail')
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID
UPDATE /* itemsq.Fail */ items FORCE INDEX (PRIMARY)
SET    due_at = FLOOR(UNIX_TIMESTAMP() + ?)
WHERE  (id IN (?))
AND    (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (kind = 'mail');

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* itemsq.Requeue */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (kind = 'mail')
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID
UPDATE /* itemsq.Requeue */ items FORCE INDEX (PRIMARY)
SET    due_at = CASE WHEN ? > 0.0 THEN FLOOR(UNIX_TIMESTAMP() + ?) ELSE due_at END
WHERE  (id IN (?))
AND    (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (kind = 'mail');

-- sql/purge_overdue.sql
-- purge_overdue: ready and past its time to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* itemsq.Purge */ items
FROM   (
           SELECT id
           FROM   items
           WHERE  expires_at <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new DueAt, 3: new ExpiresAt, 4: new Body
INSERT /* itemsq.Enqueue */ INTO items
       (kind, due_at, expires_at, body)
VALUES (?, ?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due and the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Kind DueAt ExpiresAt Body
INSERT /* itemsq.EnqueueMany */ INTO items
       (kind, due_at, expires_at, body)
VALUES (?, ?, ?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* itemsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(CASE WHEN (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL) AND (expires_at > UNIX_TIMESTAMP() OR expires_at IS NULL) AND (not exists (select 1 from holds h where h.item_id = items.id)) THEN 1 END) AS ready,
       count(CASE WHEN due_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL) AND (expires_at > UNIX_TIMESTAMP() OR expires_at IS NULL) AND (not exists (select 1 from holds h where h.item_id = items.id)) THEN due_at END) AS SIGNED) AS oldest_ready
FROM   items
WHERE  (kind = 'mail');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* itemsq.Peek */
       id, kind, due_at, expires_at, body
FROM   items FORCE INDEX (`PRIMARY`)
WHERE  (due_at <= UNIX_TIMESTAMP() OR due_at IS NULL)
AND    (expires_at > UNIX_TIMESTAMP() OR expires_at IS NULL)
AND    (kind = 'mail')
AND    (not exists (select 1 from holds h where h.item_id = items.id))
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
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
SELECT /* itemsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'due_at', 'bigint' UNION ALL
           SELECT 'expires_at', 'bigint' UNION ALL
           SELECT 'body', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'items'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'items'
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
SELECT /* itemsq.Verify */
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
                      AND    table_name = 'items'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over; rows that wait for their time are read and passed over: PRIMARY serves already
