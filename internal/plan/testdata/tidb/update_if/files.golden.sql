-- Package filesq uses the table files as a queue of jobs on TiDB 7.5 and later.
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
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates files_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    TiDB 7.5 cannot return the rows of an UPDATE
--   block        TiDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  TiDB 7.5 cannot pass over locked rows
--   advisory     TiDB has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, file_id, data_type
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in file_id, data_type (primary key), where (is_deleted = 0), and leaves it alone where that does not hold: bucket = {bucket}, pending = 'yes'
-- note: warning: enqueue=update takes a job that runs from its worker, since qgen:on update writes column pending: it may be claimed again while the first still has it, who then gets ErrLost
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (pending, is_deleted, file_id, data_type)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Claim */
       file_id, data_type
FROM   files IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  pending = 'yes'
AND    (is_deleted = 0)
ORDER  BY file_id, data_type
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType
SELECT /* filesq.Claim */
       file_id, data_type
FROM   files FORCE INDEX (PRIMARY)
WHERE  ((file_id = ? AND data_type = ?))
AND    pending = 'yes'
AND    (is_deleted = 0)
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType
UPDATE /* filesq.Claim */ files FORCE INDEX (PRIMARY)
SET    synced = UTC_TIMESTAMP(6),
       pending = 'busy'
WHERE  ((file_id = ? AND data_type = ?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType
SELECT /* filesq.Claim */
       file_id, data_type, bucket, CAST(synced AS CHAR)
FROM   files FORCE INDEX (PRIMARY)
WHERE  ((file_id = ? AND data_type = ?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: synced as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
SELECT /* filesq.Complete */
       file_id, data_type
FROM   files FORCE INDEX (PRIMARY)
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
UPDATE /* filesq.Complete */ files FORCE INDEX (PRIMARY)
SET    pending = 'no'
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: synced as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
SELECT /* filesq.Fail */
       file_id, data_type
FROM   files FORCE INDEX (PRIMARY)
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
UPDATE /* filesq.Fail */ files FORCE INDEX (PRIMARY)
SET    synced = NULL,
       pending = 'yes'
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: synced as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
SELECT /* filesq.Requeue */
       file_id, data_type
FROM   files FORCE INDEX (PRIMARY)
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
UPDATE /* filesq.Requeue */ files FORCE INDEX (PRIMARY)
SET    synced = NULL,
       pending = 'yes'
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: synced as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
SELECT /* filesq.Extend */
       file_id, data_type
FROM   files FORCE INDEX (PRIMARY)
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType Synced
UPDATE /* filesq.Extend */ files FORCE INDEX (PRIMARY)
SET    synced = UTC_TIMESTAMP(6)
WHERE  ((file_id = ? AND data_type = ? AND synced = ?))
AND    pending = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list FileID DataType
SELECT /* filesq.Extend */
       file_id, data_type, CAST(synced AS CHAR)
FROM   files FORCE INDEX (PRIMARY)
WHERE  ((file_id = ? AND data_type = ?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (pending, is_deleted, file_id, data_type), which finds the rows that somebody has by pending
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* filesq.Recover */ files
SET    synced = NULL,
       pending = 'yes'
WHERE  pending = 'busy'
AND    (is_deleted = 0)
AND    synced <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND
LIMIT  ?;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (pending, is_deleted, file_id, data_type); it reads those that are not old enough as well
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* filesq.Purge */ FROM files
WHERE  pending = 'no'
AND    (is_deleted = 0)
AND    synced <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
LIMIT  ?;

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in file_id, data_type (primary key)
-- locks: the row, until commit; waits for who has it locked
-- index: file_id, data_type
-- isolation: read committed
-- arguments: 1: new FileID, 2: new DataType
SELECT /* filesq.Enqueue */
       file_id, data_type
FROM   files
WHERE  file_id = ?
AND    data_type = ?
FOR    UPDATE;

-- sql/enqueue_check.sql
-- enqueue: returns the row that enqueue_lock.sql found, if update_if holds for it: else it is left alone
-- locks: nothing more
-- index: file_id, data_type
-- isolation: read committed
-- arguments: 1: new FileID, 2: new DataType
SELECT /* filesq.Enqueue */
       file_id, data_type
FROM   files
WHERE  file_id = ?
AND    data_type = ?
AND    (is_deleted = 0)
FOR    UPDATE;

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: file_id, data_type
-- isolation: read committed
-- arguments: 1: new Bucket, 2: new FileID, 3: new DataType
UPDATE /* filesq.Enqueue */ files
SET    bucket = ?,
       pending = 'yes'
WHERE  file_id = ?
AND    data_type = ?;

-- sql/enqueue.sql
-- enqueue: a new ready row, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new FileID, 2: new DataType, 3: new Bucket
INSERT /* filesq.Enqueue */ INTO files
       (file_id, data_type, bucket)
VALUES (?, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(CASE WHEN pending = 'yes' THEN 1 END) AS ready,
       count(CASE WHEN pending = 'busy' THEN 1 END) AS running,
       count(CASE WHEN pending = 'no' THEN 1 END) AS done,
       count(CASE WHEN pending = 'busy' AND synced <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN pending = 'busy' THEN synced END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   files
WHERE  (is_deleted = 0);

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (pending, is_deleted, file_id, data_type)
SELECT /* filesq.Backlog */
       count(*) AS ready
FROM   files
WHERE  pending = 'yes'
AND    (is_deleted = 0);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (pending, is_deleted, file_id, data_type)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */
       file_id, data_type, bucket
FROM   files IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  pending = 'yes'
AND    (is_deleted = 0)
ORDER  BY file_id, data_type
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'file_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'data_type', 'varchar' UNION ALL
           SELECT 'bucket', 'varchar' UNION ALL
           SELECT 'synced', 'datetime' UNION ALL
           SELECT 'pending', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'files'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* filesq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'files_ready' AS name, 'pending, is_deleted, file_id, data_type' AS columns, 'pending, is_deleted, file_id, data_type' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'files'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX files_ready ON files (pending, is_deleted, file_id, data_type);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
