-- Package blocksq uses the table blocks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates blocks_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no index can give this order, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, node); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param_list node []int32, 2: ahead, 3: param_list node []int32, 4: limit
SELECT /* blocksq.Claim */
       blocks.id, blocks.node, CAST(UTC_TIMESTAMP(6) AS CHAR)
FROM   (
           SELECT id AS candidate_1,
                  ((select p.priority from priorities p where p.id = blocks.id)) AS candidate_2
           FROM   blocks
           WHERE  status IN (0, 3)
           AND    node IN (?)
           ORDER  BY candidate_2, id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN blocks FORCE INDEX (PRIMARY) ON blocks.id = candidate.candidate_1
WHERE  blocks.status IN (0, 3)
AND    blocks.node IN (?)
ORDER  BY candidate.candidate_2, candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Began, 2: list ID
UPDATE /* blocksq.Claim */ blocks FORCE INDEX (PRIMARY)
SET    status = 4,
       began = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* blocksq.Complete */
       id
FROM   blocks FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* blocksq.Complete */ blocks FORCE INDEX (PRIMARY)
SET    status = 1
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* blocksq.Fail */
       id
FROM   blocks FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* blocksq.Fail */ blocks FORCE INDEX (PRIMARY)
SET    status = 0,
       began = NULL
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* blocksq.Requeue */
       id
FROM   blocks FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* blocksq.Requeue */ blocks FORCE INDEX (PRIMARY)
SET    status = 0,
       began = NULL
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* blocksq.Extend */
       id
FROM   blocks FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* blocksq.Extend */ blocks FORCE INDEX (PRIMARY)
SET    began = UTC_TIMESTAMP(6)
WHERE  ((id, began) IN ((?, ?)))
AND    status = 4;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* blocksq.Extend */
       id, CAST(began AS CHAR)
FROM   blocks FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, node), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* blocksq.Recover */ (
           SELECT id
           FROM   blocks
           WHERE  status = 4
           AND    began <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN blocks ON blocks.id = picked.id
SET    status = 0,
       began = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, node); it reads those that are not old enough as well, which one on (status, began) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* blocksq.Purge */ blocks
FROM   (
           SELECT id
           FROM   blocks
           WHERE  status = 1
           AND    began <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN blocks ON blocks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Node
INSERT /* blocksq.Enqueue */ INTO blocks
       (id, node)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID Node
INSERT /* blocksq.EnqueueMany */ INTO blocks
       (id, node)
VALUES (?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* blocksq.Stats */
       count(CASE WHEN status IN (0, 3) THEN 1 END) AS ready,
       count(CASE WHEN status = 4 THEN 1 END) AS running,
       count(CASE WHEN status = 1 THEN 1 END) AS done,
       count(CASE WHEN status = 4 AND began <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 4 THEN began END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   blocks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same node is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param_list node []int32
SELECT /* blocksq.StatsOf */
       count(CASE WHEN status IN (0, 3) THEN 1 END) AS ready,
       count(CASE WHEN status = 4 THEN 1 END) AS running,
       count(CASE WHEN status = 1 THEN 1 END) AS done,
       count(CASE WHEN status = 4 AND began <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 4 THEN began END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   blocks
WHERE  node IN (?);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by node
-- locks: none
-- index: (status, node)
SELECT /* blocksq.Backlog */
       node,
       count(*) AS ready
FROM   blocks
WHERE  status IN (0, 3)
GROUP  BY node
ORDER  BY node;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, node); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param_list node []int32, 2: limit
SELECT /* blocksq.Peek */
       id, node
FROM   blocks
WHERE  status IN (0, 3)
AND    node IN (?)
ORDER  BY ((select p.priority from priorities p where p.id = blocks.id)), id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* blocksq.Verify */
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
SELECT /* blocksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'node', 'int' UNION ALL
           SELECT 'status', 'int' UNION ALL
           SELECT 'began', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'blocks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* blocksq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'blocks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* blocksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'blocks_ready' AS name, 'status, node' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'blocks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those; it also serves Recover: rows that somebody has, which are few
ALTER TABLE blocks ADD INDEX blocks_ready (status, node), ALGORITHM=INPLACE, LOCK=NONE;
