-- Package revivedq uses the table revived as a queue of jobs on MySQL 8 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates revived_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: column "at" is '2000-01-01 00:00:00' while nobody has the row, as its default says
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: on retry, column "at" gets now as qgen:on says, not now + {delay} as qgen:due would
-- note: on release, column "at" gets now as qgen:on says, not now + {delay} as qgen:due would
-- note: rows are taken as they came, by column "id"; order 1 at column "at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "at", which counts whole seconds: two claims within one second look alike

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* revivedq.Claim */
       id, CAST(UTC_TIMESTAMP(0) AS CHAR)
FROM   revived
WHERE  status = 1
AND    at <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken At, 2: list ID
UPDATE /* revivedq.Claim */ revived FORCE INDEX (PRIMARY)
SET    at = ?,
       status = 0
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* revivedq.Complete */
       id
FROM   revived FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
DELETE /* revivedq.Complete */ revived
FROM   revived FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* revivedq.Fail */
       id
FROM   revived FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
UPDATE /* revivedq.Fail */ revived FORCE INDEX (PRIMARY)
SET    at = UTC_TIMESTAMP(0),
       status = 1
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* revivedq.Requeue */
       id
FROM   revived FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
UPDATE /* revivedq.Requeue */ revived FORCE INDEX (PRIMARY)
SET    at = UTC_TIMESTAMP(0),
       status = 1
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* revivedq.Extend */
       id
FROM   revived FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
UPDATE /* revivedq.Extend */ revived FORCE INDEX (PRIMARY)
SET    at = UTC_TIMESTAMP(0)
WHERE  ((id, at) IN ((?, ?)))
AND    status = 0;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* revivedq.Extend */
       id, CAST(at AS CHAR)
FROM   revived FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* revivedq.Recover */ (
           SELECT id
           FROM   revived
           WHERE  status = 0
           AND    at <= UTC_TIMESTAMP(6) - INTERVAL 180 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN revived ON revived.id = picked.id
SET    at = '2000-01-01 00:00:00',
       status = 1;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At
INSERT /* revivedq.Enqueue */ INTO revived
       (at)
VALUES (coalesce(?, '2000-01-01 00:00:00'));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list At
INSERT /* revivedq.EnqueueMany */ INTO revived
       (at)
VALUES (coalesce(?, '2000-01-01 00:00:00'));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* revivedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* revivedq.Stats */
       count(CASE WHEN status = 1 AND at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN status = 0 THEN 1 END) AS running,
       count(CASE WHEN status = 1 AND at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN status = 0 AND at <= UTC_TIMESTAMP(6) - INTERVAL 180 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 1 AND at <= UTC_TIMESTAMP(6) THEN at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 0 THEN at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   revived;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* revivedq.Peek */
       id, CAST(at AS CHAR)
FROM   revived
WHERE  status = 1
AND    at <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* revivedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* revivedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'at', 'datetime' UNION ALL
           SELECT 'status', 'tinyint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'revived'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* revivedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'revived'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* revivedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'revived_ready' AS name, 'status, id' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'revived'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE revived ADD INDEX revived_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
