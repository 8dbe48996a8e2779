-- Package tasksq uses the table tasks as a queue of jobs on MariaDB 10.11 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	purge_if --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.11 cannot return the rows of an UPDATE
--   block        rows that are read and passed over stay locked, and other claims may take them
--   token        rows that are read and passed over stay locked, and other claims may take them
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: warning: purge_if names no column that tells which rows run, so Purge removes such rows, too, and whoever works on one of them gets ErrLost; and not (state = 'busy') leaves them out
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: tasks_next (state, id)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: param agent string, 2: ahead, 3: param agent string, 4: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* tasksq.Claim */
       tasks.id, tasks.kind, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR)
FROM   (
           SELECT id AS candidate_1
           FROM   tasks FORCE INDEX (tasks_next)
           WHERE  state = 'new'
           AND    (exists (select 1 from kinds k where k.kind = tasks.kind and k.agent = ?))
           ORDER  BY id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN tasks FORCE INDEX (PRIMARY) ON tasks.id = candidate.candidate_1
WHERE  tasks.state = 'new'
AND    (exists (select 1 from kinds k where k.kind = tasks.kind and k.agent = ?))
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* tasksq.Claim */ tasks FORCE INDEX (PRIMARY)
SET    state = 'busy',
       till = ?
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* tasksq.Complete */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* tasksq.Complete */ tasks FORCE INDEX (PRIMARY)
SET    state = 'done',
       ended = UTC_TIMESTAMP(6),
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    state = 'failed',
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* tasksq.Requeue */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* tasksq.Requeue */ tasks FORCE INDEX (PRIMARY)
SET    state = 'new',
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* tasksq.Extend */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* tasksq.Extend */ tasks FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Extend */
       id, CAST(till AS CHAR)
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: tasks_next (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ (
           SELECT id
           FROM   tasks
           WHERE  state = 'busy'
           AND    till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id
SET    state = 'new',
       till = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: tasks_next (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ (
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id
SET    state = 'new',
       till = NULL;

-- sql/purge.sql
-- purge: rows for which purge_if holds, to gone
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: whichever finds the rows of purge_if
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: param before time.Time, 2: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  (ended < ? and not exists (select 1 from kinds k where k.kind = tasks.kind))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Kind
INSERT /* tasksq.Enqueue */ INTO tasks
       (kind)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Kind
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (kind)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* tasksq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: tasks_next (state, id)
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: tasks_next (state, id)
-- isolation: read committed
-- arguments: 1: param agent string, 2: limit
SELECT /* tasksq.Peek */
       id, kind
FROM   tasks FORCE INDEX (tasks_next)
WHERE  state = 'new'
AND    (exists (select 1 from kinds k where k.kind = tasks.kind and k.agent = ?))
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.11')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 101100;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'ended', 'datetime' UNION ALL
           SELECT 'till', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'tasks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'tasks_next' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'tasks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over; it also serves Recover: rows that somebody has, which are few: tasks_next serves already
