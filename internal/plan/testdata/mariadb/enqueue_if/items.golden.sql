-- Package itemsq uses the table items as a queue of jobs on MariaDB 10.6 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where ((select count(*) from items q where q.queue_id = {new}.queue_id and q.status = 'pending') < {arg:most}), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* itemsq.Claim */
       id, queue_id, data, CAST(UTC_TIMESTAMP(6) AS CHAR)
FROM   items IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'pending'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Since, 2: list ID
UPDATE /* itemsq.Claim */ items FORCE INDEX (PRIMARY)
SET    status = 'in_progress',
       since = ?
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* itemsq.Complete */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* itemsq.Complete */ items FORCE INDEX (PRIMARY)
SET    status = 'completed'
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* itemsq.Fail */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* itemsq.Fail */ items FORCE INDEX (PRIMARY)
SET    status = 'failed'
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* itemsq.Requeue */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* itemsq.Requeue */ items FORCE INDEX (PRIMARY)
SET    status = 'pending',
       since = NULL
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* itemsq.Extend */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* itemsq.Extend */ items FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND since = ?))
AND    status = 'in_progress';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* itemsq.Extend */
       id, CAST(since AS CHAR)
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* itemsq.Recover */ (
           SELECT id
           FROM   items
           WHERE  status = 'in_progress'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id
SET    status = 'pending',
       since = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* itemsq.Redrive */ (
           SELECT id
           FROM   items
           WHERE  status = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id
SET    status = 'pending',
       since = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* itemsq.Purge */ items
FROM   (
           SELECT id
           FROM   items
           WHERE  status = 'completed'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* itemsq.Purge */ items
FROM   (
           SELECT id
           FROM   items
           WHERE  status = 'failed'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none
-- locks: the new row, until commit; what enqueue_if reads, for reading
-- index: whichever finds the rows of enqueue_if
-- isolation: repeatable read
-- arguments: 1: new QueueID, 2: new Data, 3: new QueueID, 4: new Most
INSERT /* itemsq.Enqueue */ INTO items
       (queue_id, data)
SELECT ?, ?
FROM   DUAL
WHERE  ((select count(*) from items q where q.queue_id = ? and q.status = 'pending') < ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(CASE WHEN status = 'pending' THEN 1 END) AS ready,
       count(CASE WHEN status = 'in_progress' THEN 1 END) AS running,
       count(CASE WHEN status = 'completed' THEN 1 END) AS done,
       count(CASE WHEN status = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN status = 'in_progress' AND since <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 'in_progress' THEN since END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   items;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
SELECT /* itemsq.Backlog */
       count(*) AS ready
FROM   items
WHERE  status = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* itemsq.Peek */
       id, queue_id, data
FROM   items IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'pending'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'queue_id', 'varchar' UNION ALL
           SELECT 'data', 'varchar' UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'since', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'items'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'items'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'items_ready' AS name, 'status, id' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'items'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE items ADD INDEX items_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
