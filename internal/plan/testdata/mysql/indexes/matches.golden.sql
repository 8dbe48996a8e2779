-- Package matchesq uses the table matches as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates matches_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (deleted, id)
-- isolation: read committed
-- arguments: 1: worker Worker, 2: limit
SELECT /* matchesq.Claim */
       id, ?
FROM   matches IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (worker is null or worker = 0)
AND    deleted = FALSE
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Worker, 2: list ID
UPDATE /* matchesq.Claim */ matches FORCE INDEX (PRIMARY)
SET    worker = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
SELECT /* matchesq.Complete */
       id
FROM   matches FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    (worker > 0)
AND    deleted = FALSE
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
DELETE /* matchesq.Complete */ matches
FROM   matches FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    (worker > 0)
AND    deleted = FALSE;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
SELECT /* matchesq.Fail */
       id
FROM   matches FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    (worker > 0)
AND    deleted = FALSE
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
UPDATE /* matchesq.Fail */ matches FORCE INDEX (PRIMARY)
SET    worker = (-worker)
WHERE  ((id, worker) IN ((?, ?)))
AND    (worker > 0)
AND    deleted = FALSE;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
SELECT /* matchesq.Requeue */
       id
FROM   matches FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    (worker > 0)
AND    deleted = FALSE
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
UPDATE /* matchesq.Requeue */ matches FORCE INDEX (PRIMARY)
SET    worker = NULL
WHERE  ((id, worker) IN ((?, ?)))
AND    (worker > 0)
AND    deleted = FALSE;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (deleted, id); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* matchesq.Redrive */ (
           SELECT id
           FROM   matches
           WHERE  (worker < 0)
           AND    deleted = FALSE
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN matches ON matches.id = picked.id
SET    worker = NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (deleted, id); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
DELETE /* matchesq.Purge */ matches
FROM   (
           SELECT id
           FROM   matches
           WHERE  (worker < 0)
           AND    deleted = FALSE
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN matches ON matches.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* matchesq.Enqueue */ INTO matches
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (deleted, id)
SELECT /* matchesq.Stats */
       count(CASE WHEN (worker is null or worker = 0) THEN 1 END) AS ready,
       count(CASE WHEN (worker > 0) THEN 1 END) AS running,
       count(CASE WHEN (worker < 0) THEN 1 END) AS failed
FROM   matches
WHERE  deleted = FALSE;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (deleted, id); it reads others as well
SELECT /* matchesq.Backlog */
       count(*) AS ready
FROM   matches
WHERE  (worker is null or worker = 0)
AND    deleted = FALSE;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (deleted, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* matchesq.Peek */
       id
FROM   matches IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (worker is null or worker = 0)
AND    deleted = FALSE
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* matchesq.Verify */
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
SELECT /* matchesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'worker', 'int' UNION ALL
           SELECT 'deleted', 'tinyint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'matches'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* matchesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'matches'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* matchesq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'matches_ready' AS name, 'deleted, id' AS columns, 'deleted' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'matches'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over; rows that a condition of the queue refuses are read and passed over
ALTER TABLE matches ADD INDEX matches_ready (deleted, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
