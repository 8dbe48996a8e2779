-- Package worksq uses the table works as a queue of jobs on MySQL 8.4 and later.
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
-- note: rows that are alike in column "due_at" are taken as the index works_due has them: in the order of the key as well, MySQL would sort all ready rows for each claim
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: works_due (state, due_at, kind)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* worksq.Claim */
       id, CAST(due_at AS CHAR), kind, CAST(UTC_TIMESTAMP(6) AS CHAR)
FROM   works FORCE INDEX (works_due)
WHERE  state = 'r'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY due_at
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Since, 2: list ID
UPDATE /* worksq.Claim */ works FORCE INDEX (PRIMARY)
SET    state = 'x',
       since = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* worksq.Complete */
       id
FROM   works FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* worksq.Complete */ works FORCE INDEX (PRIMARY)
SET    state = 'd'
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* worksq.Fail */
       id
FROM   works FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* worksq.Fail */ works FORCE INDEX (PRIMARY)
SET    state = 'f'
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* worksq.Requeue */
       id
FROM   works FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Since
UPDATE /* worksq.Requeue */ works FORCE INDEX (PRIMARY)
SET    state = 'r',
       due_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE due_at END,
       since = NULL
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* worksq.Extend */
       id
FROM   works FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* worksq.Extend */ works FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(6)
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* worksq.Extend */
       id, CAST(since AS CHAR)
FROM   works FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: works_due (state, due_at, kind), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* worksq.Recover */ (
           SELECT id
           FROM   works
           WHERE  state = 'x'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN works ON works.id = picked.id
SET    state = 'r',
       since = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: works_due (state, due_at, kind)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* worksq.Redrive */ (
           SELECT id
           FROM   works
           WHERE  state = 'f'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN works ON works.id = picked.id
SET    state = 'r',
       since = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: works_due (state, due_at, kind); it reads those that are not old enough as well, which one on (state, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* worksq.Purge */ works
FROM   (
           SELECT id
           FROM   works
           WHERE  state = 'd'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN works ON works.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: works_due (state, due_at, kind); it reads those that are not old enough as well, which one on (state, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* worksq.Purge */ works
FROM   (
           SELECT id
           FROM   works
           WHERE  state = 'f'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN works ON works.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Kind
INSERT /* worksq.Enqueue */ INTO works
       (due_at, kind)
VALUES (coalesce(?, UTC_TIMESTAMP(6)), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list DueAt Kind
INSERT /* worksq.EnqueueMany */ INTO works
       (due_at, kind)
VALUES (coalesce(?, UTC_TIMESTAMP(6)), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* worksq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* worksq.Stats */
       count(CASE WHEN state = 'r' AND due_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running,
       count(CASE WHEN state = 'd' THEN 1 END) AS done,
       count(CASE WHEN state = 'f' THEN 1 END) AS failed,
       count(CASE WHEN state = 'r' AND due_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'x' AND since <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'r' AND due_at <= UTC_TIMESTAMP(6) THEN due_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'x' THEN since END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   works;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: works_due (state, due_at, kind)
SELECT /* worksq.Backlog */
       count(CASE WHEN due_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN due_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN due_at <= UTC_TIMESTAMP(6) THEN due_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   works
WHERE  state = 'r';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: works_due (state, due_at, kind)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* worksq.Peek */
       id, CAST(due_at AS CHAR), kind
FROM   works FORCE INDEX (works_due)
WHERE  state = 'r'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY due_at
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* worksq.Verify */
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
SELECT /* worksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'due_at', 'datetime' UNION ALL
           SELECT 'kind', 'int' UNION ALL
           SELECT 'since', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'works'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* worksq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'works'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* worksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'works_due' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'works'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few: works_due serves already
