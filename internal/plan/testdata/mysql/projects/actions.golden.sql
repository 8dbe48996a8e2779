-- Package actionsq uses the table wp_actionscheduler_actions as a queue of jobs on MySQL 8.4 and later.
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
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
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
-- note: the fence is the count in column "attempts" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: rows without a value in column "scheduled_date_gmt" stand first in the order, where MySQL puts nulls (nulls=last puts them last)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* actionsq.Claim */
       action_id, hook, CAST(scheduled_date_gmt AS CHAR), priority, args, attempts + 1,
       CAST(UTC_TIMESTAMP(0) AS CHAR), claim_id
FROM   wp_actionscheduler_actions FORCE INDEX (status_scheduled_date_gmt)
WHERE  status = 'pending'
AND    (scheduled_date_gmt <= UTC_TIMESTAMP(6) OR scheduled_date_gmt IS NULL)
ORDER  BY scheduled_date_gmt, action_id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken LastAttemptGmt, 2: list ActionID
UPDATE /* actionsq.Claim */ wp_actionscheduler_actions FORCE INDEX (PRIMARY)
SET    status = 'in-progress',
       attempts = attempts + 1,
       last_attempt_gmt = ?
WHERE  (action_id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
SELECT /* actionsq.Complete */
       action_id
FROM   wp_actionscheduler_actions FORCE INDEX (PRIMARY)
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
UPDATE /* actionsq.Complete */ wp_actionscheduler_actions FORCE INDEX (PRIMARY)
SET    status = 'complete'
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
SELECT /* actionsq.Fail */
       action_id
FROM   wp_actionscheduler_actions FORCE INDEX (PRIMARY)
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ActionID Attempts
UPDATE /* actionsq.Fail */ wp_actionscheduler_actions FORCE INDEX (PRIMARY)
SET    status = 'pending',
       scheduled_date_gmt = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       last_attempt_gmt = NULL
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
SELECT /* actionsq.Fail */
       action_id
FROM   wp_actionscheduler_actions FORCE INDEX (PRIMARY)
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
UPDATE /* actionsq.Fail */ wp_actionscheduler_actions FORCE INDEX (PRIMARY)
SET    status = 'failed'
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
SELECT /* actionsq.Requeue */
       action_id
FROM   wp_actionscheduler_actions FORCE INDEX (PRIMARY)
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ActionID Attempts
UPDATE /* actionsq.Requeue */ wp_actionscheduler_actions FORCE INDEX (PRIMARY)
SET    status = 'pending',
       scheduled_date_gmt = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE scheduled_date_gmt END,
       attempts = attempts - 1,
       last_attempt_gmt = NULL
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: attempts as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
SELECT /* actionsq.Extend */
       action_id
FROM   wp_actionscheduler_actions FORCE INDEX (PRIMARY)
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ActionID Attempts
UPDATE /* actionsq.Extend */ wp_actionscheduler_actions FORCE INDEX (PRIMARY)
SET    last_attempt_gmt = UTC_TIMESTAMP(0)
WHERE  ((action_id, attempts) IN ((?, ?)))
AND    status = 'in-progress';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* actionsq.Recover */ (
           SELECT action_id
           FROM   wp_actionscheduler_actions
           WHERE  status = 'in-progress'
           AND    attempts < 3
           AND    last_attempt_gmt <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN wp_actionscheduler_actions ON wp_actionscheduler_actions.action_id = picked.action_id
SET    status = 'pending',
       last_attempt_gmt = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* actionsq.Recover */ (
           SELECT action_id
           FROM   wp_actionscheduler_actions
           WHERE  status = 'in-progress'
           AND    attempts >= 3
           AND    last_attempt_gmt <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN wp_actionscheduler_actions ON wp_actionscheduler_actions.action_id = picked.action_id
SET    status = 'failed';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* actionsq.Redrive */ (
           SELECT action_id
           FROM   wp_actionscheduler_actions
           WHERE  status = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN wp_actionscheduler_actions ON wp_actionscheduler_actions.action_id = picked.action_id
SET    status = 'pending',
       attempts = 0,
       last_attempt_gmt = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt); it reads those that are not old enough as well, which one on (status, last_attempt_gmt) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ wp_actionscheduler_actions
FROM   (
           SELECT action_id
           FROM   wp_actionscheduler_actions
           WHERE  status = 'complete'
           AND    last_attempt_gmt <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN wp_actionscheduler_actions ON wp_actionscheduler_actions.action_id = picked.action_id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt); it reads those that are not old enough as well, which one on (status, last_attempt_gmt) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ wp_actionscheduler_actions
FROM   (
           SELECT action_id
           FROM   wp_actionscheduler_actions
           WHERE  status = 'failed'
           AND    last_attempt_gmt <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN wp_actionscheduler_actions ON wp_actionscheduler_actions.action_id = picked.action_id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Hook, 2: new ScheduledDateGmt, 3: new Priority, 4: new Args, 5: new ClaimID
INSERT /* actionsq.Enqueue */ INTO wp_actionscheduler_actions
       (hook, status, scheduled_date_gmt, priority, args, last_attempt_gmt, claim_id)
VALUES (?, 'pending', coalesce(?, '0000-00-00 00:00:00'), coalesce(?, '10'), ?,
        NULL, coalesce(?, '0'));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Hook ScheduledDateGmt Priority Args ClaimID
INSERT /* actionsq.EnqueueMany */ INTO wp_actionscheduler_actions
       (hook, status, scheduled_date_gmt, priority, args, last_attempt_gmt, claim_id)
VALUES (?, 'pending', coalesce(?, '0000-00-00 00:00:00'), coalesce(?, '10'), ?, NULL, coalesce(?, '0'));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* actionsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* actionsq.Stats */
       count(CASE WHEN status = 'pending' AND (scheduled_date_gmt <= UTC_TIMESTAMP(6) OR scheduled_date_gmt IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN status = 'in-progress' THEN 1 END) AS running,
       count(CASE WHEN status = 'complete' THEN 1 END) AS done,
       count(CASE WHEN status = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN status = 'pending' AND scheduled_date_gmt > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN status = 'in-progress' AND last_attempt_gmt <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 'pending' AND (scheduled_date_gmt <= UTC_TIMESTAMP(6) OR scheduled_date_gmt IS NULL) THEN scheduled_date_gmt END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 'in-progress' THEN last_attempt_gmt END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   wp_actionscheduler_actions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt)
SELECT /* actionsq.Backlog */
       count(CASE WHEN (scheduled_date_gmt <= UTC_TIMESTAMP(6) OR scheduled_date_gmt IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN scheduled_date_gmt > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (scheduled_date_gmt <= UTC_TIMESTAMP(6) OR scheduled_date_gmt IS NULL) THEN scheduled_date_gmt END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   wp_actionscheduler_actions
WHERE  status = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: status_scheduled_date_gmt (status, scheduled_date_gmt)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* actionsq.Peek */
       action_id, hook, CAST(scheduled_date_gmt AS CHAR), priority, args, attempts,
       claim_id
FROM   wp_actionscheduler_actions FORCE INDEX (status_scheduled_date_gmt)
WHERE  status = 'pending'
AND    (scheduled_date_gmt <= UTC_TIMESTAMP(6) OR scheduled_date_gmt IS NULL)
ORDER  BY scheduled_date_gmt, action_id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* actionsq.Verify */
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
SELECT /* actionsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'action_id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'hook', 'varchar' UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'scheduled_date_gmt', 'datetime' UNION ALL
           SELECT 'priority', 'tinyint unsigned' UNION ALL
           SELECT 'args', 'varchar' UNION ALL
           SELECT 'attempts', 'int' UNION ALL
           SELECT 'last_attempt_gmt', 'datetime' UNION ALL
           SELECT 'claim_id', 'bigint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'wp_actionscheduler_actions'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* actionsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'wp_actionscheduler_actions'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* actionsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'status_scheduled_date_gmt' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'wp_actionscheduler_actions'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few: status_scheduled_date_gmt serves already
