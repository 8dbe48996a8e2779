-- Package jobsq uses the table jobs as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  not needed: token comes first
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token
UPDATE /* jobsq.Claim */ (
           SELECT id
           FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  status = 'pending'
           AND    (run_at <= UNIX_TIMESTAMP() OR run_at IS NULL)
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    status = 'processing',
       expires = FLOOR(UNIX_TIMESTAMP() + 300),
       tries = jobs.tries + 1,
       token = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: jobs_status_run (status, run_at); it reads others as well
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* jobsq.Claim */
       id, run_at, expires, tries, token
FROM   jobs
WHERE  token = ?
AND    status = 'processing';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* jobsq.Complete */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* jobsq.Complete */ jobs FORCE INDEX (PRIMARY)
SET    status = 'completed',
       expires = NULL
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Token
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    status = 'pending',
       run_at = FLOOR(UNIX_TIMESTAMP() + ?),
       expires = NULL,
       token = NULL
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    status = 'failed',
       expires = NULL
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* jobsq.Requeue */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Token
UPDATE /* jobsq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    status = 'pending',
       run_at = CASE WHEN ? > 0.0 THEN FLOOR(UNIX_TIMESTAMP() + ?) ELSE run_at END,
       expires = NULL,
       tries = tries - 1,
       token = NULL
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* jobsq.Extend */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* jobsq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    expires = FLOOR(UNIX_TIMESTAMP() + 300)
WHERE  ((id, token) IN ((?, ?)))
AND    status = 'processing';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* jobsq.Extend */
       id, expires
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: jobs_status_expires (status, expires)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  status = 'processing'
           AND    tries < 5
           AND    expires <= UNIX_TIMESTAMP()
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    status = 'pending',
       expires = NULL,
       token = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: jobs_status_expires (status, expires)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  status = 'processing'
           AND    tries >= 5
           AND    expires <= UNIX_TIMESTAMP()
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    status = 'failed',
       expires = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: jobs_status_run (status, run_at)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ (
           SELECT id
           FROM   jobs
           WHERE  status = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    status = 'pending',
       expires = NULL,
       tries = 0,
       token = NULL;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* jobsq.Enqueue */ INTO jobs
       (status, run_at)
VALUES ('pending', ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list RunAt
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (status, run_at)
VALUES ('pending', ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* jobsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN status = 'pending' AND (run_at <= UNIX_TIMESTAMP() OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN status = 'processing' THEN 1 END) AS running,
       count(CASE WHEN status = 'completed' THEN 1 END) AS done,
       count(CASE WHEN status = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN status = 'pending' AND run_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       count(CASE WHEN status = 'processing' AND expires <= UNIX_TIMESTAMP() THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN status = 'pending' AND (run_at <= UNIX_TIMESTAMP() OR run_at IS NULL) THEN run_at END) AS SIGNED) AS oldest_ready
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: jobs_status_run (status, run_at)
SELECT /* jobsq.Backlog */
       count(CASE WHEN (run_at <= UNIX_TIMESTAMP() OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN run_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (run_at <= UNIX_TIMESTAMP() OR run_at IS NULL) THEN run_at END) AS SIGNED) AS oldest_ready
FROM   jobs
WHERE  status = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, run_at, tries
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'pending'
AND    (run_at <= UNIX_TIMESTAMP() OR run_at IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
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
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'run_at', 'bigint' UNION ALL
           SELECT 'expires', 'bigint' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'token', 'varchar'
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
           SELECT 'jobs_ready' AS name, 'status, id' AS columns, 'status' AS least UNION ALL
           SELECT 'jobs_status_expires', '', ''
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
ALTER TABLE jobs ADD INDEX jobs_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Recover: claims that ran out: jobs_status_expires serves already
