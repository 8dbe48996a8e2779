-- Package pidsq uses the table pids as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pids_ready.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "pid" does: a row is ready only while pid = 0, and not where something else has left a value there
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (done, pid, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pidsq.Claim */
       id
FROM   pids IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  done = 0
AND    pid = 0
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Pid, 2: list ID
UPDATE /* pidsq.Claim */ pids FORCE INDEX (PRIMARY)
SET    pid = ?
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* pidsq.Claim */
       id, pid
FROM   pids FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: pid as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Pid
SELECT /* pidsq.Complete */
       id
FROM   pids FORCE INDEX (PRIMARY)
WHERE  ((id, pid) IN ((?, ?)))
AND    done = 0
AND    pid <> 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: pid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Pid
UPDATE /* pidsq.Complete */ pids FORCE INDEX (PRIMARY)
SET    done = 1
WHERE  ((id, pid) IN ((?, ?)))
AND    done = 0
AND    pid <> 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: pid as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Pid
SELECT /* pidsq.Fail */
       id
FROM   pids FORCE INDEX (PRIMARY)
WHERE  ((id, pid) IN ((?, ?)))
AND    done = 0
AND    pid <> 0
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: pid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Pid
UPDATE /* pidsq.Fail */ pids FORCE INDEX (PRIMARY)
SET    pid = 0
WHERE  ((id, pid) IN ((?, ?)))
AND    done = 0
AND    pid <> 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: pid as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Pid
SELECT /* pidsq.Requeue */
       id
FROM   pids FORCE INDEX (PRIMARY)
WHERE  ((id, pid) IN ((?, ?)))
AND    done = 0
AND    pid <> 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: pid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Pid
UPDATE /* pidsq.Requeue */ pids FORCE INDEX (PRIMARY)
SET    pid = 0
WHERE  ((id, pid) IN ((?, ?)))
AND    done = 0
AND    pid <> 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (done, pid, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* pidsq.Purge */ pids
FROM   (
           SELECT id
           FROM   pids
           WHERE  done = 1
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN pids ON pids.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* pidsq.Enqueue */ INTO pids
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pidsq.Stats */
       count(CASE WHEN done = 0 AND pid = 0 THEN 1 END) AS ready,
       count(CASE WHEN done = 0 AND pid <> 0 THEN 1 END) AS running,
       count(CASE WHEN done = 1 THEN 1 END) AS done
FROM   pids;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (done, pid, id)
SELECT /* pidsq.Backlog */
       count(*) AS ready
FROM   pids
WHERE  done = 0
AND    pid = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (done, pid, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pidsq.Peek */
       id, pid
FROM   pids IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  done = 0
AND    pid = 0
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pidsq.Verify */
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
SELECT /* pidsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'pid', 'tinyint unsigned' UNION ALL
           SELECT 'done', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'pids'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* pidsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'pids'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pidsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'pids_ready' AS name, 'done, pid, id' AS columns, 'done, pid' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'pids'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE pids ADD INDEX pids_ready (done, pid, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
