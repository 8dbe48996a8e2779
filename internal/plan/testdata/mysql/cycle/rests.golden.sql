-- Package restsq uses the table rests as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each; with nil one is never due again. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "run_at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* restsq.Claim */
       id, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR), ver + 1
FROM   rests FORCE INDEX (`PRIMARY`)
WHERE  run_at <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken RunAt, 2: list ID
UPDATE /* restsq.Claim */ rests FORCE INDEX (PRIMARY)
SET    run_at = ?,
       ver = ver + 1
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restsq.Complete */
       id
FROM   rests FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Next, 2: list ID Ver
UPDATE /* restsq.Complete */ rests FORCE INDEX (PRIMARY)
SET    run_at = CASE WHEN id = ? THEN ? END,
       ver = ver + 1
WHERE  ((id, ver) IN ((?, ?)));

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restsq.Fail */
       id
FROM   rests FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Ver
UPDATE /* restsq.Fail */ rests FORCE INDEX (PRIMARY)
SET    run_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       ver = ver + 1
WHERE  ((id, ver) IN ((?, ?)));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restsq.Requeue */
       id
FROM   rests FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Ver
UPDATE /* restsq.Requeue */ rests FORCE INDEX (PRIMARY)
SET    run_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       ver = ver + 1
WHERE  ((id, ver) IN ((?, ?)));

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restsq.Extend */
       id
FROM   rests FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Ver
UPDATE /* restsq.Extend */ rests FORCE INDEX (PRIMARY)
SET    run_at = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       ver = ver + 1
WHERE  ((id, ver) IN ((?, ?)));

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* restsq.Extend */
       id, CAST(run_at AS CHAR), ver
FROM   rests FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* restsq.Enqueue */ INTO rests
       (run_at, ver)
VALUES (?, 0);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list RunAt
INSERT /* restsq.EnqueueMany */ INTO rests
       (run_at, ver)
VALUES (?, 0);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* restsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* restsq.Stats */
       count(CASE WHEN run_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN run_at > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN run_at <= UTC_TIMESTAMP(6) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   rests;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* restsq.Peek */
       id, ver
FROM   rests FORCE INDEX (`PRIMARY`)
WHERE  run_at <= UTC_TIMESTAMP(6)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* restsq.Verify */
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
SELECT /* restsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'run_at', 'datetime' UNION ALL
           SELECT 'ver', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'rests'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* restsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'rests'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* restsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'rests'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PRIMARY serves already
