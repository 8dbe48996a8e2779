-- Package tasksq uses the table tasks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes records (Claim, Complete, Requeue, Fail, Recover, Redrive), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready and tasks_expired.
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
-- note: no order is said: rows are taken in the order of the key, id
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (free, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Claim */
       id, record, UNIX_TIMESTAMP()
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  free = 1
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Since, 2: list ID
UPDATE /* tasksq.Claim */ tasks FORCE INDEX (PRIMARY)
SET    free = 0,
       since = ?
WHERE  (id IN (?));

-- sql/claim_update_records.sql
-- claim: updates rows of records for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Claim */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN records ON records.id = held.record
SET    records.status = 'running'
WHERE  (held.id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; record <=> record always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* tasksq.Complete */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
AND    record <=> record
FOR    UPDATE;

-- sql/complete_update_records.sql
-- complete: updates rows of records for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* tasksq.Complete */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN records ON records.id = held.record
SET    records.status = 'complete'
WHERE  ((held.id, held.since) IN ((?, ?)));

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; record <=> record always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Since
DELETE /* tasksq.Complete */ tasks
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    record <=> record;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; record <=> record always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
AND    record <=> record
FOR    UPDATE;

-- sql/fail_update_records.sql
-- fail: updates rows of records for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* tasksq.Fail */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN records ON records.id = held.record
SET    records.status = 'error'
WHERE  ((held.id, held.since) IN ((?, ?)));

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    free = 0
WHERE  ((id, since) IN ((?, ?)));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; record <=> record always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* tasksq.Requeue */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
AND    record <=> record
FOR    UPDATE;

-- sql/requeue_update_records.sql
-- requeue: updates rows of records for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* tasksq.Requeue */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN records ON records.id = held.record
SET    records.status = 'waiting'
WHERE  ((held.id, held.since) IN ((?, ?)));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* tasksq.Requeue */ tasks FORCE INDEX (PRIMARY)
SET    free = 1,
       since = NULL
WHERE  ((id, since) IN ((?, ?)));

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; record <=> record always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* tasksq.Extend */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
AND    record <=> record
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* tasksq.Extend */ tasks FORCE INDEX (PRIMARY)
SET    since = UNIX_TIMESTAMP()
WHERE  ((id, since) IN ((?, ?)))
AND    (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'));

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Extend */
       id, since
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (since)
-- isolation: read committed
-- arguments: 1: limit, 2: limit
SELECT /* tasksq.Recover */
       tasks.id
FROM   (
           SELECT id AS candidate_1
           FROM   tasks
           WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
           AND    since <= FLOOR(UNIX_TIMESTAMP() - 10)
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN tasks FORCE INDEX (PRIMARY) ON tasks.id = candidate.candidate_1
WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
AND    tasks.since <= FLOOR(UNIX_TIMESTAMP() - 10)
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/recover_update_records.sql
-- recover: updates rows of records for the rows that recover_lock.sql locked, before recover.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Recover */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN records ON records.id = held.record
SET    records.status = 'waiting'
WHERE  (held.id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Recover */ tasks FORCE INDEX (PRIMARY)
SET    free = 1,
       since = NULL
WHERE  (id IN (?));

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit, 2: limit
SELECT /* tasksq.Redrive */
       tasks.id
FROM   (
           SELECT id AS candidate_1
           FROM   tasks
           WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN tasks FORCE INDEX (PRIMARY) ON tasks.id = candidate.candidate_1
WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/redrive_update_records.sql
-- redrive: updates rows of records for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Redrive */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN records ON records.id = held.record
SET    records.status = 'waiting'
WHERE  (held.id IN (?));

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Redrive */ tasks FORCE INDEX (PRIMARY)
SET    free = 1,
       since = NULL
WHERE  (id IN (?));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))
           AND    since <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Record
INSERT /* tasksq.Enqueue */ INTO tasks
       (id, record, free)
VALUES (?, ?, 1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID Record
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (id, record, free)
VALUES (?, ?, 1);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(CASE WHEN free = 1 THEN 1 END) AS ready,
       count(CASE WHEN (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) THEN 1 END) AS running,
       count(CASE WHEN (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'error')) THEN 1 END) AS failed,
       count(CASE WHEN (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) AND since <= FLOOR(UNIX_TIMESTAMP() - 10) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) THEN since END) AS SIGNED) AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (free, id)
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  free = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (free, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, record
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  free = 1
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
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
SELECT /* tasksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'record', 'bigint' UNION ALL
           SELECT 'free', 'bigint' UNION ALL
           SELECT 'since', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of records
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'status' AS name, 'varchar' AS type UNION ALL
           SELECT 'id', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'records'
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
           SELECT 'tasks_ready' AS name, 'free, id' AS columns, 'free' AS least UNION ALL
           SELECT 'tasks_expired', 'since', 'since'
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
ALTER TABLE tasks ADD INDEX tasks_ready (free, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Recover: claims that ran out
ALTER TABLE tasks ADD INDEX tasks_expired (since), ALGORITHM=INPLACE, LOCK=NONE;
