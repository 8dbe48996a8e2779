-- Package stepsq uses the table steps as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of the jobs that are alike in order_id, one runs at once, and in their order: a job is not claimed while one before it is not finished, be it that it runs or waits for its next try; a claim locks the row of tenants that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates steps_ready and steps_line.
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
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: the order of a group leaves column "due_at" out, which changes when a job is tried again
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for order_id has it read rows of one group alone
-- note: rows without a value in column "due_at" stand first in the order, where MariaDB puts nulls (nulls=last puts them last)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (state, due_at, id)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* stepsq.Claim */
       id
FROM   steps
WHERE  state = 'new'
AND    (due_at <= NOW(6) OR due_at IS NULL)
AND    (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'new'
               AND    other.id < steps.id
               LIMIT  1) IS NULL
ORDER  BY due_at, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim_group.sql
-- claim: locks the groups of the rows that claim_lock.sql locked
-- locks: the row of tenants for each group, until commit; passes over groups that are locked
-- index: the key; order_id <=> order_id always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* stepsq.Claim */
       id
FROM   steps FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (SELECT 1
               FROM   tenants
               WHERE  id = steps.order_id
               FOR    UPDATE SKIP LOCKED) = 1
AND    order_id <=> order_id
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* stepsq.Claim */
       id
FROM   steps FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (SELECT count(*)
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'busy') = 0;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* stepsq.Claim */ steps FORCE INDEX (PRIMARY)
SET    state = 'busy',
       tries = tries + 1,
       taken_at = NOW(6)
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* stepsq.Claim */
       id, order_id, CAST(UNIX_TIMESTAMP(due_at) * 1000000 AS SIGNED), tries,
       CAST(UNIX_TIMESTAMP(taken_at) * 1000000 AS SIGNED)
FROM   steps FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* stepsq.Complete */
       id
FROM   steps FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* stepsq.Complete */ steps FORCE INDEX (PRIMARY)
SET    state = 'over'
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* stepsq.Fail */
       id
FROM   steps FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Tries
UPDATE /* stepsq.Fail */ steps FORCE INDEX (PRIMARY)
SET    state = 'new',
       due_at = FROM_UNIXTIME(GREATEST(COALESCE(UNIX_TIMESTAMP(NOW(6) + INTERVAL ? SECOND), 0), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) * 0.000001 + ?)),
       taken_at = NULL
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* stepsq.Fail */
       id
FROM   steps FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* stepsq.Fail */ steps FORCE INDEX (PRIMARY)
SET    state = 'dead'
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* stepsq.Requeue */
       id
FROM   steps FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: delay, 4: list ID Tries
UPDATE /* stepsq.Requeue */ steps FORCE INDEX (PRIMARY)
SET    state = 'new',
       due_at = CASE WHEN ? > 0.0 THEN FROM_UNIXTIME(GREATEST(COALESCE(UNIX_TIMESTAMP(NOW(6) + INTERVAL ? SECOND), 0), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) * 0.000001 + ?)) ELSE due_at END,
       tries = tries - 1,
       taken_at = NULL
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* stepsq.Extend */
       id
FROM   steps FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* stepsq.Extend */ steps FORCE INDEX (PRIMARY)
SET    taken_at = NOW(6)
WHERE  ((id = ? AND tries = ?))
AND    state = 'busy';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, due_at, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Recover */ (
           SELECT id
           FROM   steps
           WHERE  state = 'busy'
           AND    tries < 5
           AND    taken_at <= FROM_UNIXTIME(LEAST(UNIX_TIMESTAMP(NOW(6) - INTERVAL 600 SECOND), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) * 0.000001 - 600))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN steps ON steps.id = picked.id
SET    state = 'new',
       taken_at = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, due_at, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Recover */ (
           SELECT id
           FROM   steps
           WHERE  state = 'busy'
           AND    tries >= 5
           AND    taken_at <= FROM_UNIXTIME(LEAST(UNIX_TIMESTAMP(NOW(6) - INTERVAL 600 SECOND), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) * 0.000001 - 600))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN steps ON steps.id = picked.id
SET    state = 'dead';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, due_at, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Redrive */ (
           SELECT id
           FROM   steps
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN steps ON steps.id = picked.id
SET    state = 'new',
       tries = 0,
       taken_at = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, due_at, id); it reads those that are not old enough as well, which one on (state, taken_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* stepsq.Purge */ steps
FROM   (
           SELECT id
           FROM   steps
           WHERE  state = 'over'
           AND    taken_at <= FROM_UNIXTIME(LEAST(UNIX_TIMESTAMP(NOW(6) - INTERVAL ? SECOND), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) * 0.000001 - ?))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN steps ON steps.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, due_at, id); it reads those that are not old enough as well, which one on (state, taken_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* stepsq.Purge */ steps
FROM   (
           SELECT id
           FROM   steps
           WHERE  state = 'dead'
           AND    taken_at <= FROM_UNIXTIME(LEAST(UNIX_TIMESTAMP(NOW(6) - INTERVAL ? SECOND), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) * 0.000001 - ?))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN steps ON steps.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new OrderID, 2: new DueAt
INSERT /* stepsq.Enqueue */ INTO steps
       (order_id, due_at)
VALUES (?, FROM_UNIXTIME(? * 0.000001));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list OrderID DueAt
INSERT /* stepsq.EnqueueMany */ INTO steps
       (order_id, due_at)
VALUES (?, FROM_UNIXTIME(? * 0.000001));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* stepsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(CASE WHEN state = 'new' AND (due_at <= NOW(6) OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'new' AND due_at > NOW(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'busy' AND taken_at <= FROM_UNIXTIME(LEAST(UNIX_TIMESTAMP(NOW(6) - INTERVAL 600 SECOND), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) * 0.000001 - 600)) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'new' AND (due_at <= NOW(6) OR due_at IS NULL) THEN due_at END), NOW(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'busy' THEN taken_at END), NOW(6)) / 1000000 AS oldest_running
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, due_at, id)
SELECT /* stepsq.Backlog */
       count(CASE WHEN (due_at <= NOW(6) OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN due_at > NOW(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (due_at <= NOW(6) OR due_at IS NULL) THEN due_at END), NOW(6)) / 1000000 AS oldest_ready
FROM   steps
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, due_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       id, order_id, CAST(UNIX_TIMESTAMP(due_at) * 1000000 AS SIGNED), tries
FROM   steps
WHERE  state = 'new'
AND    (due_at <= NOW(6) OR due_at IS NULL)
AND    (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'new'
               AND    other.id < steps.id
               LIMIT  1) IS NULL
ORDER  BY due_at, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stepsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stepsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'order_id', 'int' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'due_at', 'timestamp' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'taken_at', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'steps'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* stepsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'steps'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stepsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'steps_ready' AS name, 'state, due_at, id' AS columns, 'state, due_at' AS least UNION ALL
           SELECT 'steps_line', 'order_id, state, id', 'order_id, state'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'steps'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE steps ADD INDEX steps_ready (state, due_at, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Claim: who is before a row in its group, and which of them run
ALTER TABLE steps ADD INDEX steps_line (order_id, state, id), ALGORITHM=INPLACE, LOCK=NONE;
