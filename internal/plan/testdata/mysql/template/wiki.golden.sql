-- Package wikiq uses the table {{.Prefix}}job as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates {{.Prefix}}job_wiki_token.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "job_token_timestamp" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "job_id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: job_cmd_id (job_cmd, job_id)
-- isolation: read committed
-- arguments: 1: param jobCmd string, 2: limit, 3: token JobToken
UPDATE /* wikiq.Claim */ (
           SELECT job_id
           FROM   `{{.Prefix}}job` FORCE INDEX (job_cmd_id)
           WHERE  (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL)
           AND    job_attempts < 3
           AND    job_cmd = ?
           ORDER  BY job_id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN `{{.Prefix}}job` ON `{{.Prefix}}job`.job_id = picked.job_id
SET    job_token = ?,
       job_token_timestamp = UTC_TIMESTAMP(0),
       job_attempts = `{{.Prefix}}job`.job_attempts + 1;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: none; it reads the table
-- isolation: read committed
-- arguments: 1: token JobToken
SELECT /* wikiq.Claim */
       job_id, job_cmd, job_params, job_token, CAST(job_token_timestamp AS CHAR),
       job_attempts
FROM   `{{.Prefix}}job`
WHERE  job_token = ?
AND    job_token_timestamp IS NOT NULL
AND    job_token_timestamp > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: job_token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
SELECT /* wikiq.Complete */
       job_id
FROM   `{{.Prefix}}job` FORCE INDEX (PRIMARY)
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
DELETE /* wikiq.Complete */ `{{.Prefix}}job`
FROM   `{{.Prefix}}job` FORCE INDEX (PRIMARY)
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: job_token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
SELECT /* wikiq.Fail */
       job_id
FROM   `{{.Prefix}}job` FORCE INDEX (PRIMARY)
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
UPDATE /* wikiq.Fail */ `{{.Prefix}}job` FORCE INDEX (PRIMARY)
SET    job_token = NULL,
       job_token_timestamp = NULL
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: job_token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
SELECT /* wikiq.Fail */
       job_id
FROM   `{{.Prefix}}job` FORCE INDEX (PRIMARY)
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
UPDATE /* wikiq.Fail */ `{{.Prefix}}job` FORCE INDEX (PRIMARY)
SET    job_token = NULL,
       job_token_timestamp = NULL
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: job_token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
SELECT /* wikiq.Requeue */
       job_id
FROM   `{{.Prefix}}job` FORCE INDEX (PRIMARY)
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
UPDATE /* wikiq.Requeue */ `{{.Prefix}}job` FORCE INDEX (PRIMARY)
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = job_attempts - 1
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: job_token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
SELECT /* wikiq.Extend */
       job_id
FROM   `{{.Prefix}}job` FORCE INDEX (PRIMARY)
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list JobID JobToken
UPDATE /* wikiq.Extend */ `{{.Prefix}}job` FORCE INDEX (PRIMARY)
SET    job_token_timestamp = UTC_TIMESTAMP(0)
WHERE  ((job_id, job_token) IN ((?, ?)))
AND    job_token_timestamp IS NOT NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* wikiq.Redrive */ (
           SELECT job_id
           FROM   `{{.Prefix}}job`
           WHERE  (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL)
           AND    job_attempts >= 3
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN `{{.Prefix}}job` ON `{{.Prefix}}job`.job_id = picked.job_id
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = 0;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* wikiq.Purge */ `{{.Prefix}}job`
FROM   (
           SELECT job_id
           FROM   `{{.Prefix}}job`
           WHERE  (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL)
           AND    job_attempts >= 3
           AND    job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN `{{.Prefix}}job` ON `{{.Prefix}}job`.job_id = picked.job_id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobCmd, 2: new JobParams
INSERT /* wikiq.Enqueue */ INTO `{{.Prefix}}job`
       (job_cmd, job_params, job_attempts)
VALUES (?, ?, 0);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list JobCmd JobParams
INSERT /* wikiq.EnqueueMany */ INTO `{{.Prefix}}job`
       (job_cmd, job_params, job_attempts)
VALUES (?, ?, 0);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* wikiq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Stats */
       count(CASE WHEN (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL) AND job_attempts < 3 THEN 1 END) AS ready,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS running,
       count(CASE WHEN (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL) AND job_attempts >= 3 THEN 1 END) AS failed,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN job_token_timestamp END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   `{{.Prefix}}job`;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job_cmd is for
-- locks: none
-- index: job_cmd_id (job_cmd, job_id)
-- arguments: 1: param jobCmd string
SELECT /* wikiq.StatsOf */
       count(CASE WHEN (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL) AND job_attempts < 3 THEN 1 END) AS ready,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS running,
       count(CASE WHEN (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL) AND job_attempts >= 3 THEN 1 END) AS failed,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN job_token_timestamp END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   `{{.Prefix}}job`
WHERE  job_cmd = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job_cmd
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Backlog */
       job_cmd,
       count(*) AS ready
FROM   `{{.Prefix}}job` USE INDEX FOR GROUP BY ()
WHERE  (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL)
AND    job_attempts < 3
GROUP  BY job_cmd
ORDER  BY job_cmd;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: job_cmd_id (job_cmd, job_id)
-- isolation: read committed
-- arguments: 1: param jobCmd string, 2: limit
SELECT /* wikiq.Peek */
       job_id, job_cmd, job_params, job_attempts
FROM   `{{.Prefix}}job` FORCE INDEX (job_cmd_id)
WHERE  (job_token_timestamp <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND OR job_token_timestamp IS NULL)
AND    job_attempts < 3
AND    job_cmd = ?
ORDER  BY job_id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* wikiq.Verify */
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
SELECT /* wikiq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'job_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'job_cmd', 'varchar' UNION ALL
           SELECT 'job_params', 'mediumblob' UNION ALL
           SELECT 'job_token', 'varchar' UNION ALL
           SELECT 'job_token_timestamp', 'datetime' UNION ALL
           SELECT 'job_attempts', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = '{{.Prefix}}job'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* wikiq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = '{{.Prefix}}job'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* wikiq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'job_cmd_id' AS name, '' AS columns, '' AS least UNION ALL
           SELECT '{{.Prefix}}job_wiki_token', 'job_token', 'job_token'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = '{{.Prefix}}job'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: job_cmd_id serves already

-- serves Claim: reads back the rows that the token marks
ALTER TABLE `{{.Prefix}}job` ADD INDEX `{{.Prefix}}job_wiki_token` (job_token), ALGORITHM=INPLACE, LOCK=NONE;
