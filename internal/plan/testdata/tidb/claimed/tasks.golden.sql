-- Package tasksq uses the table tasks as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Claim */
       id
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'pending'
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Claim */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'pending'
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to claimed, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Claim */ tasks FORCE INDEX (PRIMARY)
SET    state = 'waiting',
       till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       tries = tries + 1,
       version = version + 1,
       claimed_at = UTC_TIMESTAMP(6)
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Claim */
       id, CAST(till AS CHAR), tries, version, why
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- fence: version as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
SELECT /* tasksq.Start */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND version = ?))
AND    state = 'waiting'
FOR    UPDATE;

-- sql/start.sql
-- start: claimed to running
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
UPDATE /* tasksq.Start */ tasks FORCE INDEX (PRIMARY)
SET    state = 'running',
       version = version + 1,
       started_at = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND version = ?))
AND    state = 'waiting';

-- sql/start_read.sql
-- start: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Start */
       id, version
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: version as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
SELECT /* tasksq.Complete */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running')
FOR    UPDATE;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
UPDATE /* tasksq.Complete */ tasks FORCE INDEX (PRIMARY)
SET    state = 'successful',
       till = NULL,
       version = version + 1
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running');

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: version as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running')
FOR    UPDATE;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Version
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    state = 'pending',
       till = NULL,
       version = version + 1,
       why = ?
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running');

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: version as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running')
FOR    UPDATE;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Version
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = ?
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running');

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: version as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
SELECT /* tasksq.Requeue */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running')
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
UPDATE /* tasksq.Requeue */ tasks FORCE INDEX (PRIMARY)
SET    state = 'pending',
       till = NULL,
       tries = tries - 1,
       version = version + 1
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running');

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: version as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
SELECT /* tasksq.Extend */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running')
FOR    UPDATE;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Version
UPDATE /* tasksq.Extend */ tasks FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       version = version + 1
WHERE  ((id = ? AND version = ?))
AND    state IN ('waiting', 'running');

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Extend */
       id, CAST(till AS CHAR), version
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'pending',
       till = NULL,
       version = tasks.version + 1
WHERE  state IN ('waiting', 'running')
AND    tries < 3
AND    till <= UTC_TIMESTAMP(6)
LIMIT  ?;

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'failed',
       till = NULL,
       version = tasks.version + 1,
       why = 'the claim ran out'
WHERE  state IN ('waiting', 'running')
AND    tries >= 3
AND    till <= UTC_TIMESTAMP(6)
LIMIT  ?;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ tasks
SET    state = 'pending',
       till = NULL,
       tries = 0,
       version = tasks.version + 1
WHERE  state = 'failed'
LIMIT  ?;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  state = 'successful'
LIMIT  ?;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  state = 'failed'
LIMIT  ?;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* tasksq.Enqueue */ INTO tasks
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(CASE WHEN state = 'pending' THEN 1 END) AS ready,
       count(CASE WHEN state = 'waiting' THEN 1 END) AS claimed,
       count(CASE WHEN state = 'running' THEN 1 END) AS running,
       count(CASE WHEN state = 'successful' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state IN ('waiting', 'running') AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, tries, version, why
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'pending'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

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
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'till', 'datetime' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'version', 'int' UNION ALL
           SELECT 'claimed_at', 'datetime' UNION ALL
           SELECT 'started_at', 'datetime' UNION ALL
           SELECT 'why', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* tasksq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'tasks_ready' AS name, 'state, id' AS columns, 'state, id' AS least
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX tasks_ready ON tasks (state, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
