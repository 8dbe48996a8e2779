-- Package runsq uses the table runs as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Drop------------> (deleted)
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- Besides the queue's own rows it writes orders (Complete, Fail, Recover); ended (Drop), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready.
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
-- note: no column says when a claim in column "taken" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: on giveup, column "state" gets 'lost' as qgen:on says, not 'failed' as qgen:status would
-- note: no order is said: rows are taken in the order of the key, id
-- note: the fence compares column "taken", which counts whole seconds: two claims within one second look alike
-- note: also: done writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: warning: also: drop reads runs while the rows are there still that the step takes away: leave out the row of the job itself, and call it with one job at a time, since of several each finds the others; two calls at once do not see what the other is writing: an update before it, of a row of a table that their jobs share, has them follow one another
-- note: also: giveup writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Claim */
       id, order_id, UNIX_TIMESTAMP()
FROM   runs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Taken, 2: list ID
UPDATE /* runsq.Claim */ runs FORCE INDEX (PRIMARY)
SET    state = 'busy',
       taken = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* runsq.Complete */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* runsq.Complete */ runs FORCE INDEX (PRIMARY)
SET    state = 'done'
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/complete_update_orders_lock.sql
-- complete: locks the rows of orders that complete_update_orders.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of orders, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* runsq.Complete */ runs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN orders ON orders.id = held.order_id
SET    orders.state = orders.state
WHERE  (held.id IN (?));

-- sql/complete_update_orders.sql
-- complete: updates rows of orders for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* runsq.Complete */ runs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN orders ON orders.id = held.order_id
SET    orders.state = (case when exists (select 1 from (select * from runs where state in ('new', 'busy') limit 1000000000) as o where o.order_id = held.order_id) then 'open' else 'closed' end)
WHERE  (held.id IN (?));

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* runsq.Fail */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail_update_orders.sql
-- fail: updates rows of orders for the rows that fail_lock.sql locked, before fail.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* runsq.Fail */ (
           SELECT held.order_id AS of_id,
                  count(*) AS jobs
           FROM   runs AS held FORCE INDEX (PRIMARY)
           WHERE  ((held.id, held.taken) IN ((?, ?)))
           GROUP  BY held.order_id
       ) AS shared
       STRAIGHT_JOIN orders ON orders.id = shared.of_id
SET    orders.failed = (orders.failed + shared.jobs);

-- sql/fail.sql
-- fail: running to failed
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* runsq.Fail */ runs FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/fail_update_orders_2.sql
-- fail: updates rows of orders for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* runsq.Fail */ runs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN orders ON orders.id = held.order_id
SET    orders.state = (case when exists (select 1 from (select * from runs where state in ('new', 'busy') limit 1000000000) as o where o.order_id = orders.id) then 'open' else 'closed' end)
WHERE  (held.id IN (?));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* runsq.Requeue */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* runsq.Requeue */ runs FORCE INDEX (PRIMARY)
SET    state = 'new',
       taken = NULL
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* runsq.Extend */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* runsq.Extend */ runs FORCE INDEX (PRIMARY)
SET    taken = UNIX_TIMESTAMP()
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* runsq.Extend */
       id, taken
FROM   runs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/outcome_drop_lock.sql
-- outcome_drop: locks the rows of jobs whose claims are still theirs, which outcome_drop.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* runsq.Drop */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/outcome_drop_insert_ended.sql
-- outcome_drop: inserts rows into ended for the rows that outcome_drop_lock.sql locked, before outcome_drop.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
INSERT /* runsq.Drop */ INTO ended
       (order_id)
SELECT held.order_id
FROM   runs AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id, held.taken) IN ((?, ?)))
AND    (not exists (select 1 from (select * from runs limit 1000000000) as o where o.order_id = held.order_id and o.id <> held.id));

-- sql/outcome_drop.sql
-- outcome_drop: running to deleted
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
DELETE /* runsq.Drop */ runs
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
SELECT /* runsq.Recover */
       id
FROM   runs
WHERE  state = 'busy'
AND    taken <= FLOOR(UNIX_TIMESTAMP() - ?)
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* runsq.Recover */ runs FORCE INDEX (PRIMARY)
SET    state = 'lost'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/recover_failed_update_orders_lock.sql
-- recover_failed: locks the rows of orders that recover_failed_update_orders.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of orders, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* runsq.Recover */ runs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN orders ON orders.id = held.order_id
SET    orders.state = orders.state
WHERE  (held.id IN (?));

-- sql/recover_failed_update_orders.sql
-- recover_failed: updates rows of orders for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* runsq.Recover */ runs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN orders ON orders.id = held.order_id
SET    orders.state = (case when exists (select 1 from (select * from runs where state in ('new', 'busy') limit 1000000000) as o where o.order_id = held.order_id) then 'open' else 'lost' end)
WHERE  (held.id IN (?));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ (
           SELECT id
           FROM   runs
           WHERE  state IN ('failed', 'lost')
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id
SET    state = 'new',
       taken = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ runs
FROM   (
           SELECT id
           FROM   runs
           WHERE  state = 'done'
           AND    taken <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ runs
FROM   (
           SELECT id
           FROM   runs
           WHERE  state IN ('failed', 'lost')
           AND    taken <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new OrderID
INSERT /* runsq.Enqueue */ INTO runs
       (id, order_id)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID OrderID
INSERT /* runsq.EnqueueMany */ INTO runs
       (id, order_id)
VALUES (?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* runsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state IN ('failed', 'lost') THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND taken <= FLOOR(UNIX_TIMESTAMP() - ?) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN state = 'busy' THEN taken END) AS SIGNED) AS oldest_running
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* runsq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, order_id
FROM   runs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
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
SELECT /* runsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'order_id', 'bigint' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'taken', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'runs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of orders
-- locks: none
SELECT /* runsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'state' AS name, 'varchar' AS type UNION ALL
           SELECT 'id', 'bigint' UNION ALL
           SELECT 'failed', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'orders'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of ended
-- locks: none
SELECT /* runsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'order_id' AS name, 'bigint' AS type
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'ended'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* runsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'runs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'runs_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'runs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE runs ADD INDEX runs_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
