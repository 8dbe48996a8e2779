-- Package recallsq uses the table tape_recall as a queue of jobs on MariaDB 10.6 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. It writes rows of other jobs as well, and waits for who has those locked: of two claims that wait for each other one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes rows of other jobs (Enqueue, Claim, Complete, Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tape_recall_recalls_ready and tape_recall_recalls_others.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, due, task_id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* recallsq.Claim */
       task_id, grp, file, CAST(UTC_TIMESTAMP(6) AS CHAR), tries, CAST(due AS CHAR),
       weight, why
FROM   tape_recall
WHERE  status = 1
AND    due <= UTC_TIMESTAMP(6)
ORDER  BY due, task_id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Since, 2: list TaskID
UPDATE /* recallsq.Claim */ tape_recall FORCE INDEX (PRIMARY)
SET    status = 2,
       since = ?
WHERE  (task_id = ?);

-- sql/claim_update_tape_recall.sql
-- claim: updates rows of tape_recall for the rows that were taken; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: list TaskID, 2: list TaskID
UPDATE /* recallsq.Claim */ tape_recall AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tape_recall ON tape_recall.grp = held.grp
                     AND tape_recall.status = 1
                     AND NOT (tape_recall.task_id = ?)
SET    tape_recall.status = 2,
       tape_recall.since = UTC_TIMESTAMP(6)
WHERE  (held.task_id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Complete */
       task_id
FROM   tape_recall FORCE INDEX (PRIMARY)
WHERE  ((task_id = ? AND since = ?))
AND    status = 2
FOR    UPDATE;

-- sql/complete_update_tape_recall.sql
-- complete: updates rows of tape_recall for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: list TaskID Since, 2: list TaskID
UPDATE /* recallsq.Complete */ (
           SELECT held.grp AS of_grp,
                  count(*) AS jobs
           FROM   tape_recall AS held FORCE INDEX (PRIMARY)
           WHERE  ((held.task_id = ? AND held.since = ?))
           GROUP  BY held.grp
       ) AS shared
       STRAIGHT_JOIN tape_recall ON tape_recall.grp = shared.of_grp
                     AND tape_recall.status IN (2, 1)
                     AND NOT (tape_recall.task_id = ?)
SET    tape_recall.status = 0,
       tape_recall.weight = (tape_recall.weight + shared.jobs);

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Since
UPDATE /* recallsq.Complete */ tape_recall FORCE INDEX (PRIMARY)
SET    status = 0
WHERE  ((task_id = ? AND since = ?))
AND    status = 2;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Fail */
       task_id
FROM   tape_recall FORCE INDEX (PRIMARY)
WHERE  ((task_id = ? AND since = ?))
AND    status = 2
FOR    UPDATE;

-- sql/retry_update_tape_recall.sql
-- retry: updates rows of tape_recall for the rows that retry_lock.sql locked, before retry.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: list TaskID, 2: list TaskID Since
UPDATE /* recallsq.Fail */ tape_recall AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tape_recall ON tape_recall.grp = held.grp
                     AND tape_recall.status = 1
                     AND NOT (tape_recall.task_id = ?)
SET    tape_recall.due = (held.due + interval 5 minute)
WHERE  ((held.task_id = ? AND held.since = ?));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list TaskID Since
UPDATE /* recallsq.Fail */ tape_recall FORCE INDEX (PRIMARY)
SET    status = 1,
       since = NULL,
       tries = tries + 1,
       due = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       why = ?
WHERE  ((task_id = ? AND since = ?))
AND    status = 2;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Fail */
       task_id
FROM   tape_recall FORCE INDEX (PRIMARY)
WHERE  ((task_id = ? AND since = ?))
AND    status = 2
FOR    UPDATE;

-- sql/fail_update_tape_recall.sql
-- fail: updates rows of tape_recall for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: list TaskID, 2: error, 3: list TaskID Since
UPDATE /* recallsq.Fail */ tape_recall AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tape_recall ON tape_recall.grp = held.grp
                     AND tape_recall.status = 2
                     AND NOT (tape_recall.task_id = ?)
SET    tape_recall.status = 3,
       tape_recall.why = ?
WHERE  ((held.task_id = ? AND held.since = ?));

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list TaskID Since
UPDATE /* recallsq.Fail */ tape_recall FORCE INDEX (PRIMARY)
SET    status = 3,
       tries = tries + 1,
       why = ?
WHERE  ((task_id = ? AND since = ?))
AND    status = 2;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Requeue */
       task_id
FROM   tape_recall FORCE INDEX (PRIMARY)
WHERE  ((task_id = ? AND since = ?))
AND    status = 2
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list TaskID Since
UPDATE /* recallsq.Requeue */ tape_recall FORCE INDEX (PRIMARY)
SET    status = 1,
       since = NULL,
       due = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE due END
WHERE  ((task_id = ? AND since = ?))
AND    status = 2;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Extend */
       task_id
FROM   tape_recall FORCE INDEX (PRIMARY)
WHERE  ((task_id = ? AND since = ?))
AND    status = 2
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Since
UPDATE /* recallsq.Extend */ tape_recall FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(6)
WHERE  ((task_id = ? AND since = ?))
AND    status = 2;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID
SELECT /* recallsq.Extend */
       task_id, CAST(since AS CHAR)
FROM   tape_recall FORCE INDEX (PRIMARY)
WHERE  (task_id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* recallsq.Recover */ (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 2
           AND    tries < 4
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tape_recall ON tape_recall.task_id = picked.task_id
SET    status = 1,
       since = NULL,
       tries = tape_recall.tries + 1;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, due, task_id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
SELECT /* recallsq.Recover */
       task_id
FROM   tape_recall
WHERE  status = 2
AND    tries >= 4
AND    since <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/recover_failed_update_tape_recall.sql
-- recover_failed: updates rows of tape_recall for the rows that recover_failed_lock.sql locked, before recover_failed.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: list TaskID, 2: list TaskID
UPDATE /* recallsq.Recover */ tape_recall AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tape_recall ON tape_recall.grp = held.grp
                     AND tape_recall.status = 2
                     AND NOT (tape_recall.task_id = ?)
SET    tape_recall.status = 3,
       tape_recall.why = 'the claim ran out'
WHERE  (held.task_id = ?);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID
UPDATE /* recallsq.Recover */ tape_recall FORCE INDEX (PRIMARY)
SET    status = 3,
       tries = tries + 1,
       why = 'the claim ran out'
WHERE  (task_id = ?)
AND    status = 2
AND    tries >= 4;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* recallsq.Redrive */ (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 3
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tape_recall ON tape_recall.task_id = picked.task_id
SET    status = 1,
       since = NULL,
       tries = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* recallsq.Purge */ tape_recall
FROM   (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 0
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tape_recall ON tape_recall.task_id = picked.task_id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* recallsq.Purge */ tape_recall
FROM   (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 3
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tape_recall ON tape_recall.task_id = picked.task_id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Grp, 2: new File, 3: new Due, 4: new Weight
INSERT /* recallsq.Enqueue */ INTO tape_recall
       (grp, file, due, weight)
VALUES (?, ?, coalesce(?, UTC_TIMESTAMP(6)), coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Grp File Due Weight
INSERT /* recallsq.EnqueueMany */ INTO tape_recall
       (grp, file, due, weight)
VALUES (?, ?, coalesce(?, UTC_TIMESTAMP(6)), coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* recallsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/enqueue_delete_tape_recall.sql
-- enqueue: deletes rows from tape_recall for the rows that were added; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (file)
-- isolation: read committed
-- arguments: 1: list TaskID, 2: list TaskID
DELETE /* recallsq.Enqueue */ tape_recall
FROM   tape_recall AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tape_recall ON tape_recall.file = held.file
                     AND tape_recall.status = 1
                     AND NOT (tape_recall.task_id = ?)
WHERE  (held.task_id = ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* recallsq.Stats */
       count(CASE WHEN status = 1 AND due <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN status = 2 THEN 1 END) AS running,
       count(CASE WHEN status = 0 THEN 1 END) AS done,
       count(CASE WHEN status = 3 THEN 1 END) AS failed,
       count(CASE WHEN status = 1 AND due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN status = 2 AND since <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 1 AND due <= UTC_TIMESTAMP(6) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 2 THEN since END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   tape_recall;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, due, task_id)
SELECT /* recallsq.Backlog */
       count(CASE WHEN due <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN due <= UTC_TIMESTAMP(6) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   tape_recall
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, due, task_id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* recallsq.Peek */
       task_id, grp, file, tries, CAST(due AS CHAR), weight, why
FROM   tape_recall
WHERE  status = 1
AND    due <= UTC_TIMESTAMP(6)
ORDER  BY due, task_id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* recallsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* recallsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'task_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'grp', 'bigint' UNION ALL
           SELECT 'file', 'varchar' UNION ALL
           SELECT 'status', 'int' UNION ALL
           SELECT 'since', 'datetime' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'due', 'datetime' UNION ALL
           SELECT 'weight', 'int' UNION ALL
           SELECT 'why', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tape_recall'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* recallsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'tape_recall'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* recallsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'tape_recall_recalls_ready' AS name, 'status, due, task_id' AS columns, 'status, due' AS least UNION ALL
           SELECT 'tape_recall_recalls_others', 'file', 'file' UNION ALL
           SELECT 'tape_recall_group', '', ''
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'tape_recall'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE tape_recall ADD INDEX tape_recall_recalls_ready (status, due, task_id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- finds the rows of other jobs that a step writes
ALTER TABLE tape_recall ADD INDEX tape_recall_recalls_others (file), ALGORITHM=INPLACE, LOCK=NONE;

-- finds the rows of other jobs that a step writes: tape_recall_group serves already
