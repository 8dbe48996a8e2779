-- Package notesq uses the table notes as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates notes_ready.
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
-- note: times of column "deliver_after" are in UTC whatever the session's time zone is, as other programs write them there: sessions of all programs have to be in one
-- note: times of column "lease" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: times of column "ended" are in UTC whatever the session's time zone is, as other programs write them there: sessions of all programs have to be in one
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: times of column "made" are in UTC whatever the session's time zone is, as other programs write them there: sessions of all programs have to be in one
-- note: the fence compares column "lease", which counts whole seconds: two claims within one second look alike

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, made, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* notesq.Claim */
       id, CAST(deliver_after AS CHAR),
       CAST(UNIX_TIMESTAMP(CAST(GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone)) AS DATETIME(0))) * 1000000 AS SIGNED),
       CAST(made AS CHAR)
FROM   notes
WHERE  state = 0
AND    (deliver_after <= UTC_TIMESTAMP(6) OR deliver_after IS NULL)
ORDER  BY made, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Lease, 2: list ID
UPDATE /* notesq.Claim */ notes FORCE INDEX (PRIMARY)
SET    state = 1,
       lease = FROM_UNIXTIME(? * 0.000001)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: lease as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Lease
SELECT /* notesq.Complete */
       id
FROM   notes FORCE INDEX (PRIMARY)
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: lease as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Lease
UPDATE /* notesq.Complete */ notes FORCE INDEX (PRIMARY)
SET    state = 2,
       lease = NULL,
       ended = UTC_TIMESTAMP(0)
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: lease as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Lease
SELECT /* notesq.Fail */
       id
FROM   notes FORCE INDEX (PRIMARY)
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: lease as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Lease
UPDATE /* notesq.Fail */ notes FORCE INDEX (PRIMARY)
SET    state = 0,
       deliver_after = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       lease = NULL
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: lease as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Lease
SELECT /* notesq.Requeue */
       id
FROM   notes FORCE INDEX (PRIMARY)
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: lease as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Lease
UPDATE /* notesq.Requeue */ notes FORCE INDEX (PRIMARY)
SET    state = 0,
       deliver_after = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE deliver_after END,
       lease = NULL
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: lease as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Lease
SELECT /* notesq.Extend */
       id
FROM   notes FORCE INDEX (PRIMARY)
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: lease as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Lease
UPDATE /* notesq.Extend */ notes FORCE INDEX (PRIMARY)
SET    lease = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((id, lease) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* notesq.Extend */
       id, CAST(UNIX_TIMESTAMP(lease) * 1000000 AS SIGNED)
FROM   notes FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, made, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* notesq.Recover */ (
           SELECT id
           FROM   notes
           WHERE  state = 1
           AND    lease <= NOW(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN notes ON notes.id = picked.id
SET    state = 0,
       lease = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, made, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* notesq.Purge */ notes
FROM   (
           SELECT id
           FROM   notes
           WHERE  state = 2
           AND    ended <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN notes ON notes.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DeliverAfter, 2: new Made
INSERT /* notesq.Enqueue */ INTO notes
       (deliver_after, made)
VALUES (?, coalesce(?, UTC_TIMESTAMP(6)));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list DeliverAfter Made
INSERT /* notesq.EnqueueMany */ INTO notes
       (deliver_after, made)
VALUES (?, coalesce(?, UTC_TIMESTAMP(6)));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* notesq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Stats */
       count(CASE WHEN state = 0 AND (deliver_after <= UTC_TIMESTAMP(6) OR deliver_after IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = 0 AND deliver_after > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 1 AND lease <= NOW(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 0 AND (deliver_after <= UTC_TIMESTAMP(6) OR deliver_after IS NULL) THEN deliver_after END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   notes;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, made, id)
SELECT /* notesq.Backlog */
       count(CASE WHEN (deliver_after <= UTC_TIMESTAMP(6) OR deliver_after IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN deliver_after > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (deliver_after <= UTC_TIMESTAMP(6) OR deliver_after IS NULL) THEN deliver_after END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   notes
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, made, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* notesq.Peek */
       id, CAST(deliver_after AS CHAR), CAST(made AS CHAR)
FROM   notes
WHERE  state = 0
AND    (deliver_after <= UTC_TIMESTAMP(6) OR deliver_after IS NULL)
ORDER  BY made, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notesq.Verify */
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
SELECT /* notesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'tinyint' UNION ALL
           SELECT 'deliver_after', 'timestamp' UNION ALL
           SELECT 'lease', 'timestamp' UNION ALL
           SELECT 'made', 'timestamp' UNION ALL
           SELECT 'ended', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'notes'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* notesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'notes'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* notesq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'notes_ready' AS name, 'state, made, id' AS columns, 'state, made' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'notes'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE notes ADD INDEX notes_ready (state, made, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
