-- Package askedq uses the table asked as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates asked_ready.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the count in column "tries" begins anew with every round of a job, so it is no fence; qgen:token or qgen:version is one
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: worker Holder, 2: limit
SELECT /* askedq.Claim */
       id, CAST(run_at AS CHAR), tries + 1, ?
FROM   asked IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    run_at <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Holder, 2: list ID
UPDATE /* askedq.Claim */ asked FORCE INDEX (PRIMARY)
SET    state = 'A',
       tries = tries + 1,
       holder = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* askedq.Complete */
       id
FROM   asked FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Next, 2: list ID Answer, 3: list ID Holder
UPDATE /* askedq.Complete */ asked FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = CASE WHEN id = ? THEN (?) END,
       tries = 0,
       holder = NULL,
       answer = CASE WHEN id = ? THEN ? END
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* askedq.Fail */
       id
FROM   asked FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Holder
UPDATE /* askedq.Fail */ asked FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       holder = NULL
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* askedq.Fail */
       id
FROM   asked FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
UPDATE /* askedq.Fail */ asked FORCE INDEX (PRIMARY)
SET    state = 'E'
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* askedq.Requeue */
       id
FROM   asked FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Holder
UPDATE /* askedq.Requeue */ asked FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE run_at END,
       tries = tries - 1,
       holder = NULL
WHERE  ((id, holder) IN ((?, ?)))
AND    state = 'A';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* askedq.Redrive */ (
           SELECT id
           FROM   asked
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN asked ON asked.id = picked.id
SET    state = 'N',
       tries = 0,
       holder = NULL;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* askedq.Enqueue */ INTO asked
       (run_at)
VALUES (coalesce(?, UTC_TIMESTAMP(6)));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list RunAt
INSERT /* askedq.EnqueueMany */ INTO asked
       (run_at)
VALUES (coalesce(?, UTC_TIMESTAMP(6)));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* askedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
       count(CASE WHEN state = 'N' AND run_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'N' AND run_at <= UTC_TIMESTAMP(6) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   asked;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* askedq.Backlog */
       count(CASE WHEN run_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN run_at <= UTC_TIMESTAMP(6) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   asked
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* askedq.Peek */
       id, CAST(run_at AS CHAR), tries
FROM   asked IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    run_at <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
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
SELECT /* askedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'run_at', 'datetime' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'holder', 'varchar' UNION ALL
           SELECT 'answer', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'asked'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* askedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'asked'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* askedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'asked_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'asked'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are read and passed over
ALTER TABLE asked ADD INDEX asked_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
