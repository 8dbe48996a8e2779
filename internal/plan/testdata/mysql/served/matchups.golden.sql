-- Package matchupsq uses the table matchups as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
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
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike
-- note: column "deleted" is tinyint(1), read as a boolean: a job with more than 0 and 1 in it comes with false there and Job.Err set; overrides: in gen.go gives it another type
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: matchups_deleted (deleted, worker)
-- isolation: read committed
-- arguments: 1: worker Worker, 2: limit
SELECT /* matchupsq.Claim */
       id, ?, CAST(UTC_TIMESTAMP(0) AS CHAR), deleted
FROM   matchups FORCE INDEX (matchups_deleted)
WHERE  worker IS NULL
AND    (deleted = 0)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Worker, 2: taken Since, 3: list ID
UPDATE /* matchupsq.Claim */ matchups FORCE INDEX (PRIMARY)
SET    worker = ?,
       since = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since, worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
SELECT /* matchupsq.Complete */
       id
FROM   matchups FORCE INDEX (PRIMARY)
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: since, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
DELETE /* matchupsq.Complete */ matchups
FROM   matchups FORCE INDEX (PRIMARY)
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0);

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since, worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
SELECT /* matchupsq.Fail */
       id
FROM   matchups FORCE INDEX (PRIMARY)
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0)
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: since, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
UPDATE /* matchupsq.Fail */ matchups FORCE INDEX (PRIMARY)
SET    worker = (-1 * worker)
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0);

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since, worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
SELECT /* matchupsq.Requeue */
       id
FROM   matchups FORCE INDEX (PRIMARY)
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0)
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
UPDATE /* matchupsq.Requeue */ matchups FORCE INDEX (PRIMARY)
SET    worker = NULL,
       since = NULL
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0);

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since, worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
SELECT /* matchupsq.Extend */
       id
FROM   matchups FORCE INDEX (PRIMARY)
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0)
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Worker
UPDATE /* matchupsq.Extend */ matchups FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(0)
WHERE  ((id, since, worker) IN ((?, ?, ?)))
AND    (worker > 0);

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* matchupsq.Extend */
       id, CAST(since AS CHAR)
FROM   matchups FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: matchups_deleted (deleted, worker), which finds the rows that somebody has by deleted, worker
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* matchupsq.Recover */ (
           SELECT id
           FROM   matchups
           WHERE  (worker > 0)
           AND    (deleted = 0)
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 2400 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN matchups ON matchups.id = picked.id
SET    worker = NULL,
       since = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: matchups_deleted (deleted, worker); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* matchupsq.Redrive */ (
           SELECT id
           FROM   matchups
           WHERE  (worker < 0)
           AND    (deleted = 0)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN matchups ON matchups.id = picked.id
SET    worker = NULL,
       since = NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: matchups_deleted (deleted, worker); it reads others as well
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* matchupsq.Purge */ matchups
FROM   (
           SELECT id
           FROM   matchups
           WHERE  (worker < 0)
           AND    (deleted = 0)
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN matchups ON matchups.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Deleted
INSERT /* matchupsq.Enqueue */ INTO matchups
       (deleted)
VALUES (coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Deleted
INSERT /* matchupsq.EnqueueMany */ INTO matchups
       (deleted)
VALUES (coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* matchupsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: matchups_deleted (deleted, worker)
SELECT /* matchupsq.Stats */
       count(CASE WHEN worker IS NULL THEN 1 END) AS ready,
       count(CASE WHEN (worker > 0) THEN 1 END) AS running,
       count(CASE WHEN (worker < 0) THEN 1 END) AS failed,
       count(CASE WHEN (worker > 0) AND since <= UTC_TIMESTAMP(6) - INTERVAL 2400 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (worker > 0) THEN since END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   matchups
WHERE  (deleted = 0);

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: matchups_deleted (deleted, worker)
SELECT /* matchupsq.Backlog */
       count(*) AS ready
FROM   matchups
WHERE  worker IS NULL
AND    (deleted = 0);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: matchups_deleted (deleted, worker)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* matchupsq.Peek */
       id, deleted
FROM   matchups FORCE INDEX (matchups_deleted)
WHERE  worker IS NULL
AND    (deleted = 0)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* matchupsq.Verify */
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
SELECT /* matchupsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'worker', 'int' UNION ALL
           SELECT 'since', 'datetime' UNION ALL
           SELECT 'deleted', 'tinyint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'matchups'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* matchupsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'matchups'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* matchupsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'matchups_deleted' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'matchups'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; it also serves Recover: rows that somebody has, which are few: matchups_deleted serves already
