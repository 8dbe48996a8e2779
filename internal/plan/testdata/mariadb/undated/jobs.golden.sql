-- Package jobsq uses the table jobs as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_expired.
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

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Claim */
       id, CAST(UTC_TIMESTAMP(3) AS CHAR)
FROM   jobs FORCE INDEX (`PRIMARY`)
WHERE  status IN ('pending', 'failed')
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken UpdatedAt, 2: list ID
UPDATE /* jobsq.Claim */ jobs FORCE INDEX (PRIMARY)
SET    status = 'sending',
       updated_at = ?
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: updated_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
SELECT /* jobsq.Complete */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: updated_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
DELETE /* jobsq.Complete */ jobs
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: updated_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: updated_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
DELETE /* jobsq.Fail */ jobs
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: updated_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
SELECT /* jobsq.Requeue */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: updated_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
UPDATE /* jobsq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    status = 'pending',
       updated_at = UTC_TIMESTAMP(3)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: updated_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
SELECT /* jobsq.Extend */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: updated_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UpdatedAt
UPDATE /* jobsq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    updated_at = UTC_TIMESTAMP(3)
WHERE  ((id = ? AND updated_at = ?))
AND    status = 'sending';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* jobsq.Extend */
       id, CAST(updated_at AS CHAR)
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (status, updated_at)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  status = 'sending'
           AND    updated_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    status = 'pending',
       updated_at = UTC_TIMESTAMP(3);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* jobsq.Enqueue */ INTO jobs
       (status, updated_at)
VALUES ('pending', UTC_TIMESTAMP(3));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN status IN ('pending', 'failed') THEN 1 END) AS ready,
       count(CASE WHEN status = 'sending' THEN 1 END) AS running,
       count(CASE WHEN status = 'sending' AND updated_at <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 'sending' THEN updated_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   jobs;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, CAST(updated_at AS CHAR)
FROM   jobs FORCE INDEX (`PRIMARY`)
WHERE  status IN ('pending', 'failed')
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'updated_at', 'datetime'
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
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least UNION ALL
           SELECT 'jobs_expired', 'status, updated_at', 'status, updated_at'
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

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: PRIMARY serves already

-- serves Recover: claims that ran out, among the rows that somebody has
ALTER TABLE jobs ADD INDEX jobs_expired (status, updated_at), ALGORITHM=INPLACE, LOCK=NONE;
