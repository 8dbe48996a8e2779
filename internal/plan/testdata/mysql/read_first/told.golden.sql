-- Package toldq uses the table waits as a queue of jobs on MySQL 8.4 and later.
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
-- Besides the queue's own rows it writes specs (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates waits_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: also: retry changes specs before the step reads it, because an entry takes from the row of the job what the step changes: what the step writes is made of what the entry left there

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* toldq.Claim */
       id, run_at
FROM   waits IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    run_at <= UNIX_TIMESTAMP()
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* toldq.Claim */ waits FORCE INDEX (PRIMARY)
SET    state = 'A'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* toldq.Complete */
       id
FROM   waits FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* toldq.Complete */ waits FORCE INDEX (PRIMARY)
SET    state = 'D'
WHERE  (id IN (?))
AND    state = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* toldq.Fail */
       id
FROM   waits FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/retry_update_specs.sql
-- retry: updates rows of specs for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key; of specs one that begins with wait_id
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* toldq.Fail */ waits AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN specs ON specs.wait_id = held.id
SET    specs.tries = (specs.tries + 1),
       specs.most = held.state
WHERE  (held.id IN (?));

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* toldq.Fail */ waits FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = FLOOR(UNIX_TIMESTAMP() + ((select s.pause * (1 << s.tries) from specs s where s.wait_id = waits.id)))
WHERE  (id IN (?))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* toldq.Requeue */
       id
FROM   waits FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID
UPDATE /* toldq.Requeue */ waits FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = CASE WHEN ? > 0.0 THEN FLOOR(UNIX_TIMESTAMP() + ?) ELSE run_at END
WHERE  (id IN (?))
AND    state = 'A';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* toldq.Purge */ waits
FROM   (
           SELECT id
           FROM   waits
           WHERE  state = 'D'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN waits ON waits.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* toldq.Enqueue */ INTO waits
       (run_at)
VALUES (coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list RunAt
INSERT /* toldq.EnqueueMany */ INTO waits
       (run_at)
VALUES (coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* toldq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* toldq.Stats */
       count(CASE WHEN state = 'N' AND run_at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'N' AND run_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN state = 'N' AND run_at <= UNIX_TIMESTAMP() THEN run_at END) AS SIGNED) AS oldest_ready
FROM   waits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* toldq.Backlog */
       count(CASE WHEN run_at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN run_at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN run_at <= UNIX_TIMESTAMP() THEN run_at END) AS SIGNED) AS oldest_ready
FROM   waits
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* toldq.Peek */
       id, run_at
FROM   waits IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    run_at <= UNIX_TIMESTAMP()
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* toldq.Verify */
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
SELECT /* toldq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'run_at', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'waits'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of specs
-- locks: none
SELECT /* toldq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'tries' AS name, 'bigint' AS type UNION ALL
           SELECT 'most', 'varchar' UNION ALL
           SELECT 'wait_id', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'specs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* toldq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'waits'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* toldq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'waits_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'waits'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
-- waitsq advises the same
ALTER TABLE waits ADD INDEX waits_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
