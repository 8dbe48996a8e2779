-- Package feedsq uses the table feeds as a queue of jobs on MySQL 8.4 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates feeds_ready and feeds_like.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        several values of state mean ready, so that rows are sorted, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in url, of those that are ready or running; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state(191), id)
-- isolation: read committed
-- arguments: 1: ahead, 2: ahead, 3: limit
SELECT /* feedsq.Claim */
       feeds.id, feeds.url
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   feeds IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'new'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   feeds IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'again'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN feeds FORCE INDEX (PRIMARY) ON feeds.id = candidate.candidate_1
WHERE  feeds.state IN ('new', 'again')
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* feedsq.Claim */ feeds FORCE INDEX (PRIMARY)
SET    state = 'busy'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* feedsq.Complete */
       id
FROM   feeds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* feedsq.Complete */ feeds FORCE INDEX (PRIMARY)
SET    state = 'done'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* feedsq.Fail */
       id
FROM   feeds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* feedsq.Fail */ feeds FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* feedsq.Requeue */
       id
FROM   feeds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* feedsq.Requeue */ feeds FORCE INDEX (PRIMARY)
SET    state = 'new'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state(191), id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* feedsq.Redrive */ (
           SELECT id
           FROM   feeds
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN feeds ON feeds.id = picked.id
SET    state = 'new';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state(191), id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* feedsq.Purge */ feeds
FROM   (
           SELECT id
           FROM   feeds
           WHERE  state = 'done'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN feeds ON feeds.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state(191), id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* feedsq.Purge */ feeds
FROM   (
           SELECT id
           FROM   feeds
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN feeds ON feeds.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in url, of those that are ready or running: then it adds none
-- locks: the new row, until commit; what it reads to see that no row is like it, for reading
-- index: (url(191))
-- isolation: repeatable read
-- arguments: 1: new URL, 2: new URL
INSERT /* feedsq.Enqueue */ INTO feeds
       (state, url)
SELECT 'new', ?
FROM   DUAL
WHERE  NOT EXISTS (
           SELECT 1
           FROM   feeds
           WHERE  url = ?
           AND    state IN ('new', 'again', 'busy'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* feedsq.Stats */
       count(CASE WHEN state IN ('new', 'again') THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed
FROM   feeds;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state(191), id)
SELECT /* feedsq.Backlog */
       count(*) AS ready
FROM   feeds
WHERE  state IN ('new', 'again');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state(191), id)
-- isolation: read committed
-- arguments: 1: limit, 2: limit, 3: limit
SELECT /* feedsq.Peek */
       feeds.id, feeds.url
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   feeds IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'new'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   feeds IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'again'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN feeds FORCE INDEX (PRIMARY) ON feeds.id = candidate.candidate_1
ORDER  BY candidate.candidate_1
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* feedsq.Verify */
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
SELECT /* feedsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'text' UNION ALL
           SELECT 'url', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'feeds'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* feedsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'feeds'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* feedsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'feeds_ready' AS name, 'state(191), id' AS columns, 'state(191)' AS least UNION ALL
           SELECT 'feeds_like', 'url(191)', 'url(191)'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'feeds'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing
ALTER TABLE feeds ADD INDEX feeds_ready (state(191), id), ALGORITHM=INPLACE, LOCK=NONE;

-- serves Enqueue: the rows that are like a new job
ALTER TABLE feeds ADD INDEX feeds_like (url(191)), ALGORITHM=INPLACE, LOCK=NONE;
