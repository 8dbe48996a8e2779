-- Package deploymentsq uses the table deployments as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates deployments_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the order is by column "moved", which the database writes at every change of a row: a job that is given back has lost its place
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index one_of_each lets one row run of those that are alike in site, and a claim of two such rows fails as a whole: qgen:group limit=1 there takes one of them
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in site, state (unique key one_of_each): Fail or Requeue fails then, for all rows of the call, until one of the two is gone

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, moved, id)
-- isolation: read committed
-- arguments: 1: ahead, 2: ahead, 3: limit
SELECT /* deploymentsq.Claim */
       deployments.id
FROM   (
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, moved AS candidate_2
                      FROM   deployments
                      WHERE  state = 'waiting'
                      ORDER  BY moved, id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, moved AS candidate_2
                      FROM   deployments
                      WHERE  state = 'again'
                      ORDER  BY moved, id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN deployments FORCE INDEX (PRIMARY) ON deployments.id = candidate.candidate_1
WHERE  deployments.state IN ('waiting', 'again')
ORDER  BY candidate.candidate_2, candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* deploymentsq.Claim */ deployments FORCE INDEX (PRIMARY)
SET    state = 'active'
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* deploymentsq.Claim */
       id, site, CAST(UNIX_TIMESTAMP(moved) * 1000000 AS SIGNED)
FROM   deployments FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* deploymentsq.Complete */
       id
FROM   deployments FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'active'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* deploymentsq.Complete */ deployments FORCE INDEX (PRIMARY)
SET    state = 'done'
WHERE  (id IN (?))
AND    state = 'active';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* deploymentsq.Fail */
       id
FROM   deployments FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'active'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* deploymentsq.Fail */ deployments FORCE INDEX (PRIMARY)
SET    state = 'waiting'
WHERE  (id IN (?))
AND    state = 'active';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* deploymentsq.Requeue */
       id
FROM   deployments FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'active'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* deploymentsq.Requeue */ deployments FORCE INDEX (PRIMARY)
SET    state = 'waiting'
WHERE  (id IN (?))
AND    state = 'active';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, moved, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* deploymentsq.Purge */ deployments
FROM   (
           SELECT id
           FROM   deployments
           WHERE  state = 'done'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN deployments ON deployments.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new Moved
INSERT /* deploymentsq.Enqueue */ INTO deployments
       (site, moved)
VALUES (?, coalesce(FROM_UNIXTIME(? * 0.000001), CURRENT_TIMESTAMP));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Site Moved
INSERT /* deploymentsq.EnqueueMany */ INTO deployments
       (site, moved)
VALUES (?, coalesce(FROM_UNIXTIME(? * 0.000001), CURRENT_TIMESTAMP));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* deploymentsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* deploymentsq.Stats */
       count(CASE WHEN state IN ('waiting', 'again') THEN 1 END) AS ready,
       count(CASE WHEN state = 'active' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done
FROM   deployments;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, moved, id)
SELECT /* deploymentsq.Backlog */
       count(*) AS ready
FROM   deployments
WHERE  state IN ('waiting', 'again');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, moved, id)
-- isolation: read committed
-- arguments: 1: limit, 2: limit, 3: limit
SELECT /* deploymentsq.Peek */
       deployments.id, deployments.site,
       CAST(UNIX_TIMESTAMP(deployments.moved) * 1000000 AS SIGNED)
FROM   (
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, moved AS candidate_2
                      FROM   deployments
                      WHERE  state = 'waiting'
                      ORDER  BY moved, id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, moved AS candidate_2
                      FROM   deployments
                      WHERE  state = 'again'
                      ORDER  BY moved, id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN deployments FORCE INDEX (PRIMARY) ON deployments.id = candidate.candidate_1
ORDER  BY candidate.candidate_2, candidate.candidate_1
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* deploymentsq.Verify */
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
SELECT /* deploymentsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'site', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'moved', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'deployments'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* deploymentsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'deployments'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* deploymentsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'deployments_ready' AS name, 'state, moved, id' AS columns, 'state, moved' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'deployments'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing
ALTER TABLE deployments ADD INDEX deployments_ready (state, moved, id), ALGORITHM=INPLACE, LOCK=NONE;
