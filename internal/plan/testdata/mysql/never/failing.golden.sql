-- Package failingq uses the table failing as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Bury------------> failed
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates failing_ready.
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
-- note: column "at" is due and lease, so a claim hides the row by moving its due time
-- note: a row that waits for its time looks like one that runs: both are hidden by column "at"
-- note: a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)
-- note: the fence compares column "at", which counts whole seconds: two claims within one second look alike

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* failingq.Claim */
       id, FLOOR(UNIX_TIMESTAMP() + 1000), tries
FROM   failing
WHERE  at <= UNIX_TIMESTAMP()
AND    at <> 2147483647
AND    tries < 5
ORDER  BY at, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken At, 2: list ID
UPDATE /* failingq.Claim */ failing FORCE INDEX (PRIMARY)
SET    at = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* failingq.Complete */
       id
FROM   failing FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID At
DELETE /* failingq.Complete */ failing
FROM   failing FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    at <=> at;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* failingq.Fail */
       id
FROM   failing FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID At
UPDATE /* failingq.Fail */ failing FORCE INDEX (PRIMARY)
SET    at = FLOOR(UNIX_TIMESTAMP() + ?),
       tries = tries + 1
WHERE  ((id, at) IN ((?, ?)));

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* failingq.Fail */
       id
FROM   failing FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
UPDATE /* failingq.Fail */ failing FORCE INDEX (PRIMARY)
SET    at = 2147483647,
       tries = tries + 1
WHERE  ((id, at) IN ((?, ?)));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* failingq.Requeue */
       id
FROM   failing FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID At
UPDATE /* failingq.Requeue */ failing FORCE INDEX (PRIMARY)
SET    at = FLOOR(UNIX_TIMESTAMP() + ?)
WHERE  ((id, at) IN ((?, ?)));

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* failingq.Extend */
       id
FROM   failing FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
UPDATE /* failingq.Extend */ failing FORCE INDEX (PRIMARY)
SET    at = FLOOR(UNIX_TIMESTAMP() + 1000)
WHERE  ((id, at) IN ((?, ?)));

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* failingq.Extend */
       id, at
FROM   failing FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/outcome_bury_lock.sql
-- outcome_bury: locks the rows of jobs whose claims are still theirs, which outcome_bury.sql then writes
-- fence: at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID At
SELECT /* failingq.Bury */
       id
FROM   failing FORCE INDEX (PRIMARY)
WHERE  ((id, at) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/outcome_bury.sql
-- outcome_bury: running to failed
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID At
UPDATE /* failingq.Bury */ failing FORCE INDEX (PRIMARY)
SET    at = 2147483647,
       tries = tries + 1
WHERE  ((id, at) IN ((?, ?)));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (at, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* failingq.Redrive */ (
           SELECT id
           FROM   failing
           WHERE  at = 2147483647
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN failing ON failing.id = picked.id
SET    at = UNIX_TIMESTAMP(),
       tries = 0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At
INSERT /* failingq.Enqueue */ INTO failing
       (at)
VALUES (coalesce(?, UNIX_TIMESTAMP()));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list At
INSERT /* failingq.EnqueueMany */ INTO failing
       (at)
VALUES (coalesce(?, UNIX_TIMESTAMP()));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* failingq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* failingq.Stats */
       count(CASE WHEN at <= UNIX_TIMESTAMP() AND at <> 2147483647 AND tries < 5 THEN 1 END) AS ready,
       count(CASE WHEN at > UNIX_TIMESTAMP() AND at <> 2147483647 THEN 1 END) AS running,
       count(CASE WHEN at = 2147483647 THEN 1 END) AS failed,
       count(CASE WHEN at <> 2147483647 AND tries < 5 AND at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN at <= UNIX_TIMESTAMP() AND at <> 2147483647 AND tries < 5 THEN at END) AS SIGNED) AS oldest_ready
FROM   failing;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* failingq.Backlog */
       count(CASE WHEN at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN at <= UNIX_TIMESTAMP() THEN at END) AS SIGNED) AS oldest_ready
FROM   failing
WHERE  at <> 2147483647
AND    tries < 5;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* failingq.Peek */
       id, at, tries
FROM   failing
WHERE  at <= UNIX_TIMESTAMP()
AND    at <> 2147483647
AND    tries < 5
ORDER  BY at, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* failingq.Verify */
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
SELECT /* failingq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'at', 'bigint' UNION ALL
           SELECT 'tries', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'failing'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* failingq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'failing'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* failingq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'failing_ready' AS name, 'at, id' AS columns, 'at' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'failing'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
ALTER TABLE failing ADD INDEX failing_ready (at, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
