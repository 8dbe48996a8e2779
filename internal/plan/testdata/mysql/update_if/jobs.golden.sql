-- Package jobsq uses the table jobs as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=update changes the row that is like a new job in uid (unique key jobs_uid), where ({row}.state <> 'running' and (data <> {new}.data or {row}.scheduled <> {new}.scheduled)), and leaves it alone where that does not hold: data = {data}, priority = {priority} unless nil, state = 'scheduled', scheduled = {scheduled} unless nil

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Claim */
       id, uid, data, priority, CAST(scheduled AS CHAR),
       CAST(UTC_TIMESTAMP(6) + INTERVAL 600 SECOND AS CHAR)
FROM   jobs
WHERE  state = 'scheduled'
AND    scheduled <= UTC_TIMESTAMP(6)
ORDER  BY priority DESC, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Deadline, 2: list ID
UPDATE /* jobsq.Claim */ jobs FORCE INDEX (PRIMARY)
SET    state = 'running',
       deadline = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: deadline as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* jobsq.Complete */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
UPDATE /* jobsq.Complete */ jobs FORCE INDEX (PRIMARY)
SET    state = 'finished',
       deadline = NULL
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: deadline as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    state = 'failed',
       deadline = NULL
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: deadline as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* jobsq.Requeue */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Deadline
UPDATE /* jobsq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    state = 'scheduled',
       scheduled = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE scheduled END,
       deadline = NULL
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: deadline as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
SELECT /* jobsq.Extend */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Deadline
UPDATE /* jobsq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    deadline = UTC_TIMESTAMP(6) + INTERVAL 600 SECOND
WHERE  ((id, deadline) IN ((?, ?)))
AND    state = 'running';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* jobsq.Extend */
       id, CAST(deadline AS CHAR)
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  state = 'running'
           AND    deadline <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    state = 'scheduled',
       deadline = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    state = 'scheduled',
       deadline = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT id
           FROM   jobs
           WHERE  state = 'finished'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id;

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in uid (unique key jobs_uid)
-- locks: the row, until commit; waits for who has it locked
-- index: uid
-- isolation: read committed
-- arguments: 1: new UID
SELECT /* jobsq.Enqueue */
       id
FROM   jobs
WHERE  uid = ?
FOR    UPDATE;

-- sql/enqueue_check.sql
-- enqueue: returns the row that enqueue_lock.sql found, if update_if holds for it: else it is left alone
-- locks: nothing more
-- index: uid
-- isolation: read committed
-- arguments: 1: new UID, 2: new Data, 3: new Scheduled
SELECT /* jobsq.Enqueue */
       id
FROM   jobs
WHERE  uid = ?
AND    (jobs.state <> 'running' and (data <> ? or jobs.scheduled <> coalesce(?, UTC_TIMESTAMP(6))))
FOR    UPDATE;

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: uid
-- isolation: read committed
-- arguments: 1: new Data, 2: new Priority, 3: new Scheduled, 4: new UID
UPDATE /* jobsq.Enqueue */ jobs
SET    data = ?,
       priority = coalesce(?, priority),
       state = 'scheduled',
       scheduled = coalesce(?, scheduled)
WHERE  uid = ?;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new UID, 2: new Data, 3: new Priority, 4: new Scheduled
INSERT /* jobsq.Enqueue */ INTO jobs
       (uid, data, priority, scheduled)
VALUES (?, ?, coalesce(?, 0), coalesce(?, UTC_TIMESTAMP(6)));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN state = 'scheduled' AND scheduled <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN state = 'running' THEN 1 END) AS running,
       count(CASE WHEN state = 'finished' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state = 'scheduled' AND scheduled > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'running' AND deadline <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'scheduled' AND scheduled <= UTC_TIMESTAMP(6) THEN scheduled END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, priority DESC, id)
SELECT /* jobsq.Backlog */
       count(CASE WHEN scheduled <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN scheduled > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN scheduled <= UTC_TIMESTAMP(6) THEN scheduled END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   jobs
WHERE  state = 'scheduled';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, uid, data, priority, CAST(scheduled AS CHAR)
FROM   jobs
WHERE  state = 'scheduled'
AND    scheduled <= UTC_TIMESTAMP(6)
ORDER  BY priority DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
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
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'uid', 'varchar' UNION ALL
           SELECT 'data', 'text' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'scheduled', 'datetime' UNION ALL
           SELECT 'deadline', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'jobs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_ready' AS name, 'state, priority desc, id' AS columns, 'state, priority desc' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'jobs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE jobs ADD INDEX jobs_ready (state, priority DESC, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
