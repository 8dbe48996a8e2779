-- Package ordersq uses the table orders as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        MySQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, region, seq

-- sql/claim_lock.sql
-- claim: locks ready rows, for which claim.sql then adds claims
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (region, seq)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ordersq.Claim */
       region, seq
FROM   orders FORCE INDEX (`PRIMARY`)
WHERE  (SELECT COUNT(*) FROM reservations WHERE reservations.region = orders.region AND reservations.order_no = orders.seq AND NOT (reservations.since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND)) = 0
ORDER  BY region, seq
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim_expired.sql
-- claim: locks the claims that have run out among those of the rows that claim_lock.sql locked
-- locks: the rows of reservations that it returns, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq
SELECT /* ordersq.Claim */
       region, order_no
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no) IN ((?, ?)))
AND    since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND
FOR    UPDATE;

-- sql/claim_take_over.sql
-- claim: takes over the claims that claim_expired.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Holder, 2: list Region Seq
UPDATE /* ordersq.Claim */ reservations FORCE INDEX (PRIMARY)
SET    holder = ?,
       since = UTC_TIMESTAMP(3),
       tries = tries + 1
WHERE  ((region, order_no) IN ((?, ?)));

-- sql/claim.sql
-- claim: ready to running, by a row of reservations for each of the rows that claim_lock.sql locked
-- of all rows or of none: where a claim is there by then, it is tried for one row after the other
-- locks: the claims it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Holder, 2: list Region Seq
INSERT /* ordersq.Claim */ INTO reservations
       (region, order_no, holder, since, tries)
SELECT orders.region, orders.seq, ?, UTC_TIMESTAMP(3), 1
FROM   orders FORCE INDEX (PRIMARY)
WHERE  ((region, seq) IN ((?, ?)));

-- sql/claim_read.sql
-- claim: reads the jobs that were taken, with their claims
-- locks: none
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: list Region Seq
SELECT /* ordersq.Claim */
       orders.region, orders.seq, orders.body, reservations.holder,
       CAST(reservations.since AS CHAR), reservations.tries
FROM   reservations, orders FORCE INDEX (PRIMARY)
WHERE  ((orders.region, orders.seq) IN ((?, ?)))
AND    reservations.region = orders.region
AND    reservations.order_no = orders.seq;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq
SELECT /* ordersq.Complete */
       region, seq
FROM   orders FORCE INDEX (PRIMARY)
WHERE  ((region, seq) IN ((?, ?)))
AND    body <=> body
FOR    UPDATE;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; holder <=> holder always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
SELECT /* ordersq.Complete */
       region, order_no
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0)
AND    holder <=> holder
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; holder <=> holder always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
DELETE /* ordersq.Complete */ reservations
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0)
AND    holder <=> holder;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq
DELETE /* ordersq.Complete */ orders
FROM   orders FORCE INDEX (PRIMARY)
WHERE  ((region, seq) IN ((?, ?)))
AND    body <=> body;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; holder <=> holder always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
SELECT /* ordersq.Fail */
       region, order_no
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0)
AND    holder <=> holder
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; holder <=> holder always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
DELETE /* ordersq.Fail */ reservations
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0)
AND    holder <=> holder;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; holder <=> holder always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
SELECT /* ordersq.Requeue */
       region, order_no
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0)
AND    holder <=> holder
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; holder <=> holder always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
DELETE /* ordersq.Requeue */ reservations
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0)
AND    holder <=> holder;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; holder <=> holder always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
SELECT /* ordersq.Extend */
       region, order_no
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0)
AND    holder <=> holder
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Since Holder
UPDATE /* ordersq.Extend */ reservations FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(3)
WHERE  ((region, order_no, since, holder) IN ((?, ?, ?, ?)))
AND    ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) > 0);

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq
SELECT /* ordersq.Extend */
       region, order_no, CAST(since AS CHAR)
FROM   reservations FORCE INDEX (PRIMARY)
WHERE  ((region, order_no) IN ((?, ?)));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* ordersq.Recover */ reservations
FROM   (
           SELECT region, order_no
           FROM   reservations
           WHERE  ((SELECT COUNT(*) FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq) = 0)
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN reservations ON reservations.region = picked.region
                               AND    reservations.order_no = picked.order_no;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Region, 2: new Seq, 3: new Body
INSERT /* ordersq.Enqueue */ INTO orders
       (region, seq, body)
VALUES (?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Region Seq Body
INSERT /* ordersq.EnqueueMany */ INTO orders
       (region, seq, body)
VALUES (?, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(CASE WHEN (reservations.region IS NULL OR reservations.since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND) THEN 1 END) AS ready,
       count(CASE WHEN reservations.since > UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN 1 END) AS running,
       count(CASE WHEN reservations.since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN 1 END) AS expired
FROM   orders LEFT JOIN reservations ON reservations.region = orders.region AND reservations.order_no = orders.seq;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (region, seq)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       region, seq, body
FROM   orders FORCE INDEX (`PRIMARY`)
WHERE  (SELECT COUNT(*) FROM reservations WHERE reservations.region = orders.region AND reservations.order_no = orders.seq AND NOT (reservations.since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND)) = 0
ORDER  BY region, seq
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
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
SELECT /* ordersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'region' AS name, 'varchar' AS type UNION ALL
           SELECT 'seq', 'int' UNION ALL
           SELECT 'body', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'orders'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_lease.sql
-- verify: columns of reservations
-- locks: none
SELECT /* ordersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'region' AS name, 'varchar' AS type UNION ALL
           SELECT 'order_no', 'int' UNION ALL
           SELECT 'holder', 'varchar' UNION ALL
           SELECT 'since', 'datetime' UNION ALL
           SELECT 'tries', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'reservations'
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
                      AND    table_name = 'orders'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
