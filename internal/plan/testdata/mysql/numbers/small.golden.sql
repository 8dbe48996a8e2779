-- Package smallq uses the table small as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
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
-- Besides the queue's own rows it writes small_ends (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates small_ready.
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
-- note: column "state" is tinyint(1) and is taken for a number, because 2 is among its values
-- note: column "tries" is tinyint(1) and is taken for a number, because it is qgen:attempts
-- note: column "priority" is tinyint(1) and is taken for a number, because it is qgen:priority
-- note: column "kind" is tinyint(1) and is taken for a number, because it is qgen:topic
-- note: column "level" is tinyint(1) and is taken for a number, because 3 is among its values
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: column "silent" is tinyint(1), read as a boolean: a job with more than 0 and 1 in it comes with false there and Job.Err set; overrides: in gen.go gives it another type

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: param kind int8, 2: limit
SELECT /* smallq.Claim */
       id, tries, priority, kind, urgent, silent, speed, level
FROM   small
WHERE  state = 0
AND    kind = ?
ORDER  BY priority DESC, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* smallq.Claim */ small FORCE INDEX (PRIMARY)
SET    state = 1
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* smallq.Complete */
       id
FROM   small FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 1
FOR    UPDATE;

-- sql/complete_insert_small_ends.sql
-- complete: inserts rows into small_ends for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* smallq.Complete */ INTO small_ends
       (small_id, how)
SELECT held.id, 2
FROM   small AS held FORCE INDEX (PRIMARY)
WHERE  (held.id IN (?));

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* smallq.Complete */ small FORCE INDEX (PRIMARY)
SET    state = 2
WHERE  (id IN (?))
AND    state = 1;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* smallq.Fail */
       id
FROM   small FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 1
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* smallq.Fail */ small FORCE INDEX (PRIMARY)
SET    state = 0,
       tries = tries + 1
WHERE  (id IN (?))
AND    state = 1;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* smallq.Fail */
       id
FROM   small FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 1
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* smallq.Fail */ small FORCE INDEX (PRIMARY)
SET    state = -1,
       tries = tries + 1
WHERE  (id IN (?))
AND    state = 1;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* smallq.Requeue */
       id
FROM   small FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 1
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* smallq.Requeue */ small FORCE INDEX (PRIMARY)
SET    state = 0
WHERE  (id IN (?))
AND    state = 1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* smallq.Redrive */ (
           SELECT id
           FROM   small
           WHERE  state = -1
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN small ON small.id = picked.id
SET    state = 0,
       tries = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* smallq.Purge */ small
FROM   (
           SELECT id
           FROM   small
           WHERE  state = 2
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN small ON small.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* smallq.Purge */ small
FROM   (
           SELECT id
           FROM   small
           WHERE  state = -1
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN small ON small.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Priority, 2: new Kind, 3: new Urgent, 4: new Silent, 5: new Speed, 6: new Level
INSERT /* smallq.Enqueue */ INTO small
       (priority, kind, urgent, silent, speed, level)
VALUES (coalesce(?, 0), ?, coalesce(?, 0), coalesce(?, 0), coalesce(?, 0),
        coalesce(?, 3));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Priority Kind Urgent Silent Speed Level
INSERT /* smallq.EnqueueMany */ INTO small
       (priority, kind, urgent, silent, speed, level)
VALUES (coalesce(?, 0), ?, coalesce(?, 0), coalesce(?, 0), coalesce(?, 0), coalesce(?, 3));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* smallq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* smallq.Stats */
       count(CASE WHEN state = 0 THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = -1 THEN 1 END) AS failed
FROM   small;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind int8
SELECT /* smallq.StatsOf */
       count(CASE WHEN state = 0 THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = -1 THEN 1 END) AS failed
FROM   small
WHERE  kind = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (state, kind, priority DESC, id)
SELECT /* smallq.Backlog */
       kind,
       count(*) AS ready
FROM   small
WHERE  state = 0
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: param kind int8, 2: limit
SELECT /* smallq.Peek */
       id, tries, priority, kind, urgent, silent, speed, level
FROM   small
WHERE  state = 0
AND    kind = ?
ORDER  BY priority DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* smallq.Verify */
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
SELECT /* smallq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'tinyint' UNION ALL
           SELECT 'tries', 'tinyint' UNION ALL
           SELECT 'priority', 'tinyint' UNION ALL
           SELECT 'kind', 'tinyint' UNION ALL
           SELECT 'urgent', 'tinyint' UNION ALL
           SELECT 'silent', 'tinyint' UNION ALL
           SELECT 'speed', 'tinyint' UNION ALL
           SELECT 'level', 'tinyint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'small'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of small_ends
-- locks: none
SELECT /* smallq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'small_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'how', 'tinyint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'small_ends'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* smallq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'small'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* smallq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'small_ready' AS name, 'state, kind, priority desc, id' AS columns, 'state, kind, priority desc' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'small'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE small ADD INDEX small_ready (state, kind, priority DESC, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
