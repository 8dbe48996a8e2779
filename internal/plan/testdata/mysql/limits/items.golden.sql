-- Package itemsq uses the table items as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_token.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  not needed: token comes first
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for
-- note: column "expires" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Mark
UPDATE /* itemsq.Claim */ (
           SELECT id
           FROM   items FORCE INDEX (`PRIMARY`)
           WHERE  available IN (1, 0)
           AND    (expires <= UTC_TIMESTAMP(6) OR available = 1)
           AND    remaining > 0
           AND    (due_at <= UTC_TIMESTAMP(6) OR due_at IS NULL)
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id
SET    available = 0,
       expires = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       remaining = items.remaining - 1,
       mark = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: none; it reads the table
-- isolation: read committed
-- arguments: 1: token Mark
SELECT /* itemsq.Claim */
       id, CAST(expires AS CHAR), CAST(due_at AS CHAR), remaining, mark
FROM   items
WHERE  mark = ?
AND    available = 0
AND    expires > UTC_TIMESTAMP(6);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* itemsq.Complete */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* itemsq.Complete */ items
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* itemsq.Fail */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Mark
UPDATE /* itemsq.Fail */ items FORCE INDEX (PRIMARY)
SET    available = 1,
       expires = NULL,
       due_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       mark = NULL
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* itemsq.Fail */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
UPDATE /* itemsq.Fail */ items FORCE INDEX (PRIMARY)
SET    available = 1,
       expires = NULL,
       remaining = 0,
       mark = NULL
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* itemsq.Requeue */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Mark
UPDATE /* itemsq.Requeue */ items FORCE INDEX (PRIMARY)
SET    available = 1,
       expires = NULL,
       due_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE due_at END,
       remaining = remaining + 1,
       mark = NULL
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* itemsq.Extend */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
UPDATE /* itemsq.Extend */ items FORCE INDEX (PRIMARY)
SET    expires = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id, mark) IN ((?, ?)))
AND    available = 0;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* itemsq.Extend */
       id, CAST(expires AS CHAR)
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* itemsq.Redrive */ (
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= UTC_TIMESTAMP(6) OR available = 1)
           AND    remaining <= 0
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id
SET    available = 1,
       expires = NULL,
       remaining = 5,
       mark = NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
DELETE /* itemsq.Purge */ items
FROM   (
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= UTC_TIMESTAMP(6) OR available = 1)
           AND    remaining <= 0
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt
INSERT /* itemsq.Enqueue */ INTO items
       (due_at)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list DueAt
INSERT /* itemsq.EnqueueMany */ INTO items
       (due_at)
VALUES (?);

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
       count(CASE WHEN available IN (1, 0) AND (expires <= UTC_TIMESTAMP(6) OR available = 1) AND remaining > 0 AND (due_at <= UTC_TIMESTAMP(6) OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN available = 0 AND expires > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN available IN (1, 0) AND (expires <= UTC_TIMESTAMP(6) OR available = 1) AND remaining <= 0 THEN 1 END) AS failed,
       count(CASE WHEN available IN (1, 0) AND remaining > 0 AND due_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN available = 0 AND expires <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN available IN (1, 0) AND (expires <= UTC_TIMESTAMP(6) OR available = 1) AND remaining > 0 AND (due_at <= UTC_TIMESTAMP(6) OR due_at IS NULL) THEN due_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   items;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Backlog */
       count(CASE WHEN (expires <= UTC_TIMESTAMP(6) OR available = 1) AND (due_at <= UTC_TIMESTAMP(6) OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN due_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (expires <= UTC_TIMESTAMP(6) OR available = 1) AND (due_at <= UTC_TIMESTAMP(6) OR due_at IS NULL) THEN due_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   items
WHERE  available IN (1, 0)
AND    remaining > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* itemsq.Peek */
       id, CAST(due_at AS CHAR), remaining
FROM   items FORCE INDEX (`PRIMARY`)
WHERE  available IN (1, 0)
AND    (expires <= UTC_TIMESTAMP(6) OR available = 1)
AND    remaining > 0
AND    (due_at <= UTC_TIMESTAMP(6) OR due_at IS NULL)
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
           SELECT 'available', 'int unsigned' UNION ALL
           SELECT 'expires', 'datetime' UNION ALL
           SELECT 'due_at', 'datetime' UNION ALL
           SELECT 'remaining', 'int unsigned' UNION ALL
           SELECT 'mark', 'char'
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
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least UNION ALL
           SELECT 'items_token', 'mark', 'mark'
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

-- serves Claim: reads back the rows that the token marks
ALTER TABLE items ADD INDEX items_token (mark), ALGORITHM=INPLACE, LOCK=NONE;
