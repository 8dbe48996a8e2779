-- Package scansq uses the table scans as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a worker that dies leaves it as it leaves a running one.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates scans_ready and scans_like.
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
-- note: enqueue=absent leaves a job out where a row is like it in tracker, of those that are ready or claimed or running; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* scansq.Claim */
       id, tracker
FROM   scans IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'waiting'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to claimed, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* scansq.Claim */ scans FORCE INDEX (PRIMARY)
SET    state = 'scheduled'
WHERE  (id IN (?));

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* scansq.Start */
       id
FROM   scans FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'scheduled'
FOR    UPDATE;

-- sql/start.sql
-- start: claimed to running
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* scansq.Start */ scans FORCE INDEX (PRIMARY)
SET    state = 'running'
WHERE  (id IN (?))
AND    state = 'scheduled';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* scansq.Complete */
       id
FROM   scans FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state IN ('scheduled', 'running')
FOR    UPDATE;

-- sql/complete.sql
-- complete: claimed or running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* scansq.Complete */ scans FORCE INDEX (PRIMARY)
SET    state = 'success'
WHERE  (id IN (?))
AND    state IN ('scheduled', 'running');

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* scansq.Fail */
       id
FROM   scans FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state IN ('scheduled', 'running')
FOR    UPDATE;

-- sql/fail.sql
-- fail: claimed or running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* scansq.Fail */ scans FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  (id IN (?))
AND    state IN ('scheduled', 'running');

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* scansq.Requeue */
       id
FROM   scans FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state IN ('scheduled', 'running')
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* scansq.Requeue */ scans FORCE INDEX (PRIMARY)
SET    state = 'waiting'
WHERE  (id IN (?))
AND    state IN ('scheduled', 'running');

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* scansq.Redrive */ (
           SELECT id
           FROM   scans
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN scans ON scans.id = picked.id
SET    state = 'waiting';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* scansq.Purge */ scans
FROM   (
           SELECT id
           FROM   scans
           WHERE  state = 'success'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN scans ON scans.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* scansq.Purge */ scans
FROM   (
           SELECT id
           FROM   scans
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN scans ON scans.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in tracker, of those that are ready or claimed or running: then it adds none
-- locks: the new row, until commit; what it reads to see that no row is like it, for reading
-- index: (tracker)
-- isolation: repeatable read
-- arguments: 1: new Tracker, 2: new Tracker
INSERT /* scansq.Enqueue */ INTO scans
       (tracker, state)
SELECT ?, 'waiting'
FROM   DUAL
WHERE  NOT EXISTS (
           SELECT 1
           FROM   scans
           WHERE  tracker <=> ?
           AND    state IN ('waiting', 'scheduled', 'running'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* scansq.Stats */
       count(CASE WHEN state = 'waiting' THEN 1 END) AS ready,
       count(CASE WHEN state = 'scheduled' THEN 1 END) AS claimed,
       count(CASE WHEN state = 'running' THEN 1 END) AS running,
       count(CASE WHEN state = 'success' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed
FROM   scans;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* scansq.Backlog */
       count(*) AS ready
FROM   scans
WHERE  state = 'waiting';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* scansq.Peek */
       id, tracker
FROM   scans IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'waiting'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* scansq.Verify */
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
SELECT /* scansq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'tracker', 'varchar' UNION ALL
           SELECT 'state', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'scans'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* scansq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'scans'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* scansq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'scans_ready' AS name, 'state, id' AS columns, 'state' AS least UNION ALL
           SELECT 'scans_like', 'tracker', 'tracker'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'scans'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE scans ADD INDEX scans_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Enqueue: the rows that are like a new job
ALTER TABLE scans ADD INDEX scans_like (tracker), ALGORITHM=INPLACE, LOCK=NONE;
