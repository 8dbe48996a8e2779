-- Package markedq uses the table marked as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was recovered and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates marked_ready.
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
-- note: times of column "ended" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: on retry, column "due" stays as it is, as qgen:on says, and does not get now + {delay} as qgen:due would
-- note: on release, column "due" gets now as qgen:on says, not now + {delay} as qgen:due would
-- note: rows are taken as they came, by column "id"; order 1 at column "due" takes them by their time, and reads none that wait for theirs
-- note: the fence is the status, and a worker that comes late is not told from the next one: with qgen:claimed at column "beat" beside heartbeat the time there is the fence, which Extend writes as before
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* markedq.Claim */
       id, CAST(due AS CHAR)
FROM   marked IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    due <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* markedq.Claim */ marked FORCE INDEX (PRIMARY)
SET    state = 'A',
       beat = UTC_TIMESTAMP(0)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* markedq.Complete */
       id
FROM   marked FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* markedq.Complete */ marked FORCE INDEX (PRIMARY)
SET    state = 'D',
       ended = NOW(0)
WHERE  (id IN (?))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* markedq.Fail */
       id
FROM   marked FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* markedq.Fail */ marked FORCE INDEX (PRIMARY)
SET    state = 'F',
       ended = NOW(0)
WHERE  (id IN (?))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* markedq.Requeue */
       id
FROM   marked FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* markedq.Requeue */ marked FORCE INDEX (PRIMARY)
SET    state = 'N',
       due = UTC_TIMESTAMP(3),
       beat = UTC_TIMESTAMP(0)
WHERE  (id IN (?))
AND    state = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* markedq.Extend */
       id
FROM   marked FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* markedq.Extend */ marked FORCE INDEX (PRIMARY)
SET    beat = UTC_TIMESTAMP(0)
WHERE  (id IN (?))
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* markedq.Recover */ (
           SELECT id
           FROM   marked
           WHERE  state = 'A'
           AND    beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN marked ON marked.id = picked.id
SET    state = 'N';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* markedq.Redrive */ (
           SELECT id
           FROM   marked
           WHERE  state = 'F'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN marked ON marked.id = picked.id
SET    state = 'N',
       ended = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* markedq.Purge */ marked
FROM   (
           SELECT id
           FROM   marked
           WHERE  state = 'D'
           AND    ended <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN marked ON marked.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* markedq.Purge */ marked
FROM   (
           SELECT id
           FROM   marked
           WHERE  state = 'F'
           AND    ended <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN marked ON marked.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Due, 2: new Beat
INSERT /* markedq.Enqueue */ INTO marked
       (due, beat)
VALUES (coalesce(?, UTC_TIMESTAMP(3)), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Due Beat
INSERT /* markedq.EnqueueMany */ INTO marked
       (due, beat)
VALUES (coalesce(?, UTC_TIMESTAMP(3)), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* markedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* markedq.Stats */
       count(CASE WHEN state = 'N' AND due <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'F' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'A' AND beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'N' AND due <= UTC_TIMESTAMP(6) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   marked;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* markedq.Backlog */
       count(CASE WHEN due <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN due <= UTC_TIMESTAMP(6) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   marked
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* markedq.Peek */
       id, CAST(due AS CHAR)
FROM   marked IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    due <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* markedq.Verify */
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
SELECT /* markedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'due', 'datetime' UNION ALL
           SELECT 'beat', 'datetime' UNION ALL
           SELECT 'tried', 'datetime' UNION ALL
           SELECT 'ended', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'marked'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* markedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'marked'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* markedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'marked_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'marked'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE marked ADD INDEX marked_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
