-- Package askedq uses the table works as a queue of jobs on MySQL 8.4 and later.
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
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates works_asked_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (state, due_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* askedq.Claim */
       id, CAST(due_at AS CHAR), kind
FROM   works
WHERE  state = 'r'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY due_at, id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* askedq.Claim */
       id
FROM   works FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'r'
AND    due_at <= UTC_TIMESTAMP(6)
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* askedq.Claim */ works FORCE INDEX (PRIMARY)
SET    state = 'x',
       since = UTC_TIMESTAMP(6)
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* askedq.Claim */
       id, CAST(due_at AS CHAR), kind, CAST(since AS CHAR)
FROM   works FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* askedq.Complete */
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
UPDATE /* askedq.Complete */ works FORCE INDEX (PRIMARY)
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
SELECT /* askedq.Fail */
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
UPDATE /* askedq.Fail */ works FORCE INDEX (PRIMARY)
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
SELECT /* askedq.Requeue */
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
UPDATE /* askedq.Requeue */ works FORCE INDEX (PRIMARY)
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
SELECT /* askedq.Extend */
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
UPDATE /* askedq.Extend */ works FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(6)
WHERE  ((id, since) IN ((?, ?)))
AND    state = 'x';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* askedq.Extend */
       id, CAST(since AS CHAR)
FROM   works FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: works_due (state, due_at, kind), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* askedq.Recover */ (
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
UPDATE /* askedq.Redrive */ (
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
DELETE /* askedq.Purge */ works
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
DELETE /* askedq.Purge */ works
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
INSERT /* askedq.Enqueue */ INTO works
       (due_at, kind)
VALUES (coalesce(?, UTC_TIMESTAMP(6)), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list DueAt Kind
INSERT /* askedq.EnqueueMany */ INTO works
       (due_at, kind)
VALUES (coalesce(?, UTC_TIMESTAMP(6)), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* askedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
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
SELECT /* askedq.Backlog */
       count(CASE WHEN due_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN due_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN due_at <= UTC_TIMESTAMP(6) THEN due_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   works
WHERE  state = 'r';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, due_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* askedq.Peek */
       id, CAST(due_at AS CHAR), kind
FROM   works
WHERE  state = 'r'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY due_at, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
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
SELECT /* askedq.Verify */
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
SELECT /* askedq.Verify */
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
SELECT /* askedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'works_asked_ready' AS name, 'state, due_at, id' AS columns, 'state, due_at' AS least UNION ALL
           SELECT 'works_due', '', ''
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE works ADD INDEX works_asked_ready (state, due_at, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Recover: rows that somebody has, which are few: works_due serves already
