-- Package moreq uses the table syncs as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates syncs_ready.
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
-- note: columns "active", "dry", "subs" are tinyint(1), read as booleans: a job with more than 0 and 1 in one of them comes with false there and Job.Err set; overrides: in gen.go gives them other types
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* moreq.Claim */
       id, active, dry, timeout, subs
FROM   syncs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* moreq.Claim */ syncs FORCE INDEX (PRIMARY)
SET    state = 'A'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* moreq.Complete */
       id
FROM   syncs FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* moreq.Complete */ syncs FORCE INDEX (PRIMARY)
SET    state = 'C'
WHERE  (id IN (?))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* moreq.Fail */
       id
FROM   syncs FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* moreq.Fail */ syncs FORCE INDEX (PRIMARY)
SET    state = 'E'
WHERE  (id IN (?))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* moreq.Requeue */
       id
FROM   syncs FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* moreq.Requeue */ syncs FORCE INDEX (PRIMARY)
SET    state = 'N'
WHERE  (id IN (?))
AND    state = 'A';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* moreq.Redrive */ (
           SELECT id
           FROM   syncs
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN syncs ON syncs.id = picked.id
SET    state = 'N';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* moreq.Purge */ syncs
FROM   (
           SELECT id
           FROM   syncs
           WHERE  state = 'C'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN syncs ON syncs.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* moreq.Purge */ syncs
FROM   (
           SELECT id
           FROM   syncs
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN syncs ON syncs.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Active, 2: new Dry, 3: new Timeout, 4: new Subs
INSERT /* moreq.Enqueue */ INTO syncs
       (active, dry, timeout, subs)
VALUES (coalesce(?, 1), coalesce(?, 0), coalesce(?, 0), coalesce(?, 1));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Active Dry Timeout Subs
INSERT /* moreq.EnqueueMany */ INTO syncs
       (active, dry, timeout, subs)
VALUES (coalesce(?, 1), coalesce(?, 0), coalesce(?, 0), coalesce(?, 1));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* moreq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* moreq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'C' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed
FROM   syncs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* moreq.Backlog */
       count(*) AS ready
FROM   syncs
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* moreq.Peek */
       id, active, dry, timeout, subs
FROM   syncs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* moreq.Verify */
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
SELECT /* moreq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'active', 'tinyint' UNION ALL
           SELECT 'dry', 'tinyint' UNION ALL
           SELECT 'timeout', 'tinyint unsigned' UNION ALL
           SELECT 'subs', 'tinyint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'syncs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* moreq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'syncs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* moreq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'syncs_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'syncs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- syncq advises the same
ALTER TABLE syncs ADD INDEX syncs_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
