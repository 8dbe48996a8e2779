-- Package pullsq uses the table pulls as a queue of jobs on MySQL 8.4 and later.
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
-- Of the jobs that are alike in repo, one runs at once; a claim locks the row of tenants that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pulls_ready.
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
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, repo, weight DESC, id)
-- isolation: read committed
-- arguments: 1: param repo string, 2: param repo string
SELECT /* pullsq.Claim */
       id
FROM   pulls
WHERE  state = 'new'
AND    repo = ?
AND    (SELECT 1
               FROM   pulls AS other
               WHERE  other.repo = ?
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
ORDER  BY weight DESC, id
LIMIT  1
FOR    UPDATE SKIP LOCKED;

-- sql/claim_group.sql
-- claim: locks the groups of the rows that claim_lock.sql locked
-- locks: the row of tenants for each group, until commit; passes over groups that are locked
-- index: the key; repo <=> repo always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pullsq.Claim */
       id
FROM   pulls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (SELECT 1
               FROM   tenants
               WHERE  id = pulls.repo
               FOR    UPDATE SKIP LOCKED) = 1
AND    repo <=> repo
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pullsq.Claim */
       id
FROM   pulls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (SELECT count(*)
               FROM   pulls AS other
               WHERE  other.repo = pulls.repo
               AND    other.state = 'busy') = 0;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* pullsq.Claim */ pulls FORCE INDEX (PRIMARY)
SET    state = 'busy'
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pullsq.Claim */
       id, repo, weight
FROM   pulls FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pullsq.Complete */
       id
FROM   pulls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* pullsq.Complete */ pulls FORCE INDEX (PRIMARY)
SET    state = 'over'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pullsq.Fail */
       id
FROM   pulls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* pullsq.Fail */ pulls FORCE INDEX (PRIMARY)
SET    state = 'dead'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pullsq.Requeue */
       id
FROM   pulls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* pullsq.Requeue */ pulls FORCE INDEX (PRIMARY)
SET    state = 'new'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, repo, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* pullsq.Redrive */ (
           SELECT id
           FROM   pulls
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN pulls ON pulls.id = picked.id
SET    state = 'new';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, repo, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* pullsq.Purge */ pulls
FROM   (
           SELECT id
           FROM   pulls
           WHERE  state = 'over'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN pulls ON pulls.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, repo, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* pullsq.Purge */ pulls
FROM   (
           SELECT id
           FROM   pulls
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN pulls ON pulls.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Repo, 2: new Weight
INSERT /* pullsq.Enqueue */ INTO pulls
       (repo, weight)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Repo Weight
INSERT /* pullsq.EnqueueMany */ INTO pulls
       (repo, weight)
VALUES (?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* pullsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pullsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed
FROM   pulls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same repo is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param repo string
SELECT /* pullsq.StatsOf */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed
FROM   pulls
WHERE  repo = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by repo
-- locks: none
-- index: (state, repo, weight DESC, id)
SELECT /* pullsq.Backlog */
       repo,
       count(*) AS ready
FROM   pulls
WHERE  state = 'new'
GROUP  BY repo
ORDER  BY repo;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, repo, weight DESC, id)
-- isolation: read committed
-- arguments: 1: param repo string, 2: param repo string
SELECT /* pullsq.Peek */
       id, repo, weight
FROM   pulls
WHERE  state = 'new'
AND    repo = ?
AND    (SELECT 1
               FROM   pulls AS other
               WHERE  other.repo = ?
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
ORDER  BY weight DESC, id
LIMIT  1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pullsq.Verify */
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
SELECT /* pullsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'repo', 'varchar' UNION ALL
           SELECT 'weight', 'int' UNION ALL
           SELECT 'state', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'pulls'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* pullsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'pulls'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pullsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'pulls_ready' AS name, 'state, repo, weight desc, id' AS columns, 'state, repo, weight desc' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'pulls'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Claim: the running rows of a group
ALTER TABLE pulls ADD INDEX pulls_ready (state, repo, weight DESC, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
