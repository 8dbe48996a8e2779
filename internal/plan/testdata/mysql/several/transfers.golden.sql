-- Package transfersq uses the table transfers as a queue of jobs on MySQL 8.4 and later.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: transfers_ready (state, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: ahead, 2: ahead, 3: limit
SELECT /* transfersq.Claim */
       transfers.id, CAST(transfers.due AS CHAR), transfers.urgency, transfers.payload
FROM   (
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, urgency AS candidate_2
                      FROM   transfers FORCE INDEX (transfers_ready)
                      WHERE  state = 'new'
                      AND    (due <= UTC_TIMESTAMP(6) OR due IS NULL)
                      ORDER  BY urgency DESC, id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, urgency AS candidate_2
                      FROM   transfers FORCE INDEX (transfers_ready)
                      WHERE  state = 'again'
                      AND    (due <= UTC_TIMESTAMP(6) OR due IS NULL)
                      ORDER  BY urgency DESC, id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN transfers FORCE INDEX (PRIMARY) ON transfers.id = candidate.candidate_1
WHERE  transfers.state IN ('new', 'again')
AND    (transfers.due <= UTC_TIMESTAMP(6) OR transfers.due IS NULL)
ORDER  BY candidate.candidate_2 DESC, candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* transfersq.Claim */ transfers FORCE INDEX (PRIMARY)
SET    state = 'active'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* transfersq.Complete */
       id
FROM   transfers FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'active'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* transfersq.Complete */ transfers FORCE INDEX (PRIMARY)
SET    state = 'done'
WHERE  (id IN (?))
AND    state = 'active';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* transfersq.Fail */
       id
FROM   transfers FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'active'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* transfersq.Fail */ transfers FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  (id IN (?))
AND    state = 'active';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* transfersq.Requeue */
       id
FROM   transfers FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'active'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID
UPDATE /* transfersq.Requeue */ transfers FORCE INDEX (PRIMARY)
SET    state = 'new',
       due = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE due END
WHERE  (id IN (?))
AND    state = 'active';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: transfers_ready (state, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* transfersq.Redrive */ (
           SELECT id
           FROM   transfers
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN transfers ON transfers.id = picked.id
SET    state = 'new';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: transfers_ready (state, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* transfersq.Purge */ transfers
FROM   (
           SELECT id
           FROM   transfers
           WHERE  state = 'done'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN transfers ON transfers.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: transfers_ready (state, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* transfersq.Purge */ transfers
FROM   (
           SELECT id
           FROM   transfers
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN transfers ON transfers.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Due, 2: new Urgency, 3: new Payload
INSERT /* transfersq.Enqueue */ INTO transfers
       (due, urgency, payload)
VALUES (?, coalesce(?, 0), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Due Urgency Payload
INSERT /* transfersq.EnqueueMany */ INTO transfers
       (due, urgency, payload)
VALUES (?, coalesce(?, 0), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* transfersq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* transfersq.Stats */
       count(CASE WHEN state IN ('new', 'again') AND (due <= UTC_TIMESTAMP(6) OR due IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'active' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state IN ('new', 'again') AND due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state IN ('new', 'again') AND (due <= UTC_TIMESTAMP(6) OR due IS NULL) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   transfers;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: transfers_ready (state, urgency DESC, id)
SELECT /* transfersq.Backlog */
       count(CASE WHEN (due <= UTC_TIMESTAMP(6) OR due IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN due > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (due <= UTC_TIMESTAMP(6) OR due IS NULL) THEN due END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   transfers
WHERE  state IN ('new', 'again');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: transfers_ready (state, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit, 2: limit, 3: limit
SELECT /* transfersq.Peek */
       transfers.id, CAST(transfers.due AS CHAR), transfers.urgency, transfers.payload
FROM   (
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, urgency AS candidate_2
                      FROM   transfers FORCE INDEX (transfers_ready)
                      WHERE  state = 'new'
                      AND    (due <= UTC_TIMESTAMP(6) OR due IS NULL)
                      ORDER  BY urgency DESC, id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT id AS candidate_1, urgency AS candidate_2
                      FROM   transfers FORCE INDEX (transfers_ready)
                      WHERE  state = 'again'
                      AND    (due <= UTC_TIMESTAMP(6) OR due IS NULL)
                      ORDER  BY urgency DESC, id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN transfers FORCE INDEX (PRIMARY) ON transfers.id = candidate.candidate_1
ORDER  BY candidate.candidate_2 DESC, candidate.candidate_1
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* transfersq.Verify */
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
SELECT /* transfersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'due', 'datetime' UNION ALL
           SELECT 'urgency', 'int' UNION ALL
           SELECT 'payload', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'transfers'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* transfersq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'transfers'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* transfersq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'transfers_ready' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'transfers'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing; rows that wait for their time are read and passed over: transfers_ready serves already
