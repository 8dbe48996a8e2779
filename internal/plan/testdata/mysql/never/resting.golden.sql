-- Package restingq uses the table resting as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
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
-- note: column "at" is due and lease, so a claim hides the row by moving its due time
-- note: a row that waits for its time looks like one that runs: both are hidden by column "at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "at" takes them by their time, and reads none that wait for theirs

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* restingq.Claim */
       id, FLOOR(UNIX_TIMESTAMP() + 1000), ver + 1
FROM   resting FORCE INDEX (`PRIMARY`)
WHERE  at <= UNIX_TIMESTAMP()
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken At, 2: list ID
UPDATE /* restingq.Claim */ resting FORCE INDEX (PRIMARY)
SET    at = ?,
       ver = ver + 1
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restingq.Complete */
       id
FROM   resting FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
DELETE /* restingq.Complete */ resting
FROM   resting FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    at <=> at;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restingq.Fail */
       id
FROM   resting FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Ver
UPDATE /* restingq.Fail */ resting FORCE INDEX (PRIMARY)
SET    at = FLOOR(UNIX_TIMESTAMP() + ?),
       ver = ver + 1
WHERE  ((id, ver) IN ((?, ?)));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restingq.Requeue */
       id
FROM   resting FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Ver
UPDATE /* restingq.Requeue */ resting FORCE INDEX (PRIMARY)
SET    at = FLOOR(UNIX_TIMESTAMP() + ?),
       ver = ver + 1
WHERE  ((id, ver) IN ((?, ?)));

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: ver as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; at <=> at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Ver
SELECT /* restingq.Extend */
       id
FROM   resting FORCE INDEX (PRIMARY)
WHERE  ((id, ver) IN ((?, ?)))
AND    at <=> at
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Ver
UPDATE /* restingq.Extend */ resting FORCE INDEX (PRIMARY)
SET    at = FLOOR(UNIX_TIMESTAMP() + 1000),
       ver = ver + 1
WHERE  ((id, ver) IN ((?, ?)));

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* restingq.Extend */
       id, at, ver
FROM   resting FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At
INSERT /* restingq.Enqueue */ INTO resting
       (at, ver)
VALUES (?, 0);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list At
INSERT /* restingq.EnqueueMany */ INTO resting
       (at, ver)
VALUES (?, 0);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* restingq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* restingq.Stats */
       count(CASE WHEN at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN at > UNIX_TIMESTAMP() THEN 1 END) AS running,
       count(CASE WHEN at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN at <= UNIX_TIMESTAMP() THEN at END) AS SIGNED) AS oldest_ready
FROM   resting;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* restingq.Peek */
       id, ver
FROM   resting FORCE INDEX (`PRIMARY`)
WHERE  at <= UNIX_TIMESTAMP()
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* restingq.Verify */
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
SELECT /* restingq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'at', 'bigint' UNION ALL
           SELECT 'ver', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'resting'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* restingq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'resting'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* restingq.Verify */
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
                      AND    table_name = 'resting'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PRIMARY serves already
