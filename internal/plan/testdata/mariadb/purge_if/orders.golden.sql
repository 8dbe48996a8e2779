-- Package ordersq uses the table orders as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	purge_if --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes parts (Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates orders_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        no column can hold the key of a batch, by which a block reads it back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, kind, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ordersq.Claim */
       id, kind
FROM   orders IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
AND    (kind = 'mail')
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* ordersq.Claim */ orders FORCE INDEX (PRIMARY)
SET    state = 2
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* ordersq.Complete */
       id
FROM   orders FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 2
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* ordersq.Complete */ orders FORCE INDEX (PRIMARY)
SET    state = 1
WHERE  (id = ?)
AND    state = 2;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* ordersq.Fail */
       id
FROM   orders FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 2
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* ordersq.Fail */ orders FORCE INDEX (PRIMARY)
SET    state = 3
WHERE  (id = ?)
AND    state = 2;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* ordersq.Requeue */
       id
FROM   orders FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 2
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* ordersq.Requeue */ orders FORCE INDEX (PRIMARY)
SET    state = 0
WHERE  (id = ?)
AND    state = 2;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* ordersq.Redrive */ (
           SELECT id
           FROM   orders
           WHERE  state = 3
           AND    (kind = 'mail')
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN orders ON orders.id = picked.id
SET    state = 0;

-- sql/purge_lock.sql
-- purge: locks rows, which purge.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: whichever finds the rows of purge_if
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: param state int, 2: limit, 3: param state int, 4: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* ordersq.Purge */
       orders.id
FROM   (
           SELECT id AS candidate_1
           FROM   orders
           WHERE  (state in (?, 3))
           AND    (kind = 'mail')
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN orders FORCE INDEX (PRIMARY) ON orders.id = candidate.candidate_1
WHERE  (state in (?, 3))
AND    (kind = 'mail')
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/purge_delete_parts.sql
-- purge: deletes rows from parts for the rows that purge_lock.sql locked, before purge.sql
-- locks: the rows it writes, until commit
-- index: the key; of parts one that begins with order_id
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* ordersq.Purge */ parts
FROM   orders AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN parts ON parts.order_id = held.id
WHERE  (held.id = ?);

-- sql/purge.sql
-- purge: rows for which purge_if holds, to gone, of the rows that purge_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; kind <=> kind always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* ordersq.Purge */ orders
FROM   orders FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    kind <=> kind;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind
INSERT /* ordersq.Enqueue */ INTO orders
       (kind)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Kind
INSERT /* ordersq.EnqueueMany */ INTO orders
       (kind)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* ordersq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(CASE WHEN state = 0 THEN 1 END) AS ready,
       count(CASE WHEN state = 2 THEN 1 END) AS running,
       count(CASE WHEN state = 1 THEN 1 END) AS done,
       count(CASE WHEN state = 3 THEN 1 END) AS failed
FROM   orders
WHERE  (kind = 'mail');

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, kind, id)
SELECT /* ordersq.Backlog */
       count(*) AS ready
FROM   orders
WHERE  state = 0
AND    (kind = 'mail');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, kind, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       id, kind
FROM   orders IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
AND    (kind = 'mail')
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ordersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'state', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'orders'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of parts
-- locks: none
SELECT /* ordersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'order_id' AS name, 'bigint' AS type
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'parts'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* ordersq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'orders'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ordersq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'orders_ready' AS name, 'state, kind, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'orders'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE orders ADD INDEX orders_ready (state, kind, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
