-- Package localq uses the table calls as a queue of jobs on MySQL 8.4 and later.
--
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_utc_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: column "day" counts whole days: a job that failed is due up to one day before or after its first wait of 5s ends
-- note: rows are taken as they came, by column "id"; order 1 at column "day" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: there is no Enqueue: column "opens" is ignored, and a new row needs a value in it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit
SELECT /* localq.Claim */
       id, number, CAST(day AS CHAR), CAST(heard AS CHAR), made
FROM   calls IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    day <= CURRENT_DATE
AND    (opens <= CURRENT_TIME AND CURRENT_TIME < closes AND day = CURRENT_DATE AND (called < NOW(6) OR called IS NULL) AND made < UNIX_TIMESTAMP() - 60)
AND    ((called > ? OR made > ? - 60))
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* localq.Claim */ calls FORCE INDEX (PRIMARY)
SET    state = 'R'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* localq.Complete */
       id
FROM   calls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'R'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* localq.Complete */ calls FORCE INDEX (PRIMARY)
SET    state = 'D'
WHERE  (id IN (?))
AND    state = 'R';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* localq.Fail */
       id
FROM   calls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'R'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID
UPDATE /* localq.Fail */ calls FORCE INDEX (PRIMARY)
SET    state = 'N',
       day = DATE(NOW(6) + INTERVAL ? SECOND)
WHERE  (id IN (?))
AND    state = 'R';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* localq.Requeue */
       id
FROM   calls FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'R'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID
UPDATE /* localq.Requeue */ calls FORCE INDEX (PRIMARY)
SET    state = 'N',
       day = CASE WHEN ? > 0.0 THEN DATE(NOW(6) + INTERVAL ? SECOND) ELSE day END
WHERE  (id IN (?))
AND    state = 'R';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* localq.Purge */ calls
FROM   (
           SELECT id
           FROM   calls
           WHERE  state = 'D'
           AND    made <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN calls ON calls.id = picked.id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* localq.Stats */
       count(CASE WHEN state = 'N' AND day <= CURRENT_DATE AND (opens <= CURRENT_TIME AND CURRENT_TIME < closes AND day = CURRENT_DATE AND (called < NOW(6) OR called IS NULL) AND made < UNIX_TIMESTAMP() - 60) THEN 1 END) AS ready,
       count(CASE WHEN state = 'R' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'N' AND day > CURRENT_DATE THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN state = 'N' AND day <= CURRENT_DATE AND (opens <= CURRENT_TIME AND CURRENT_TIME < closes AND day = CURRENT_DATE AND (called < NOW(6) OR called IS NULL) AND made < UNIX_TIMESTAMP() - 60) THEN made END) AS SIGNED) AS oldest_ready
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* localq.Backlog */
       count(CASE WHEN day <= CURRENT_DATE AND (opens <= CURRENT_TIME AND CURRENT_TIME < closes AND day = CURRENT_DATE AND (called < NOW(6) OR called IS NULL) AND made < UNIX_TIMESTAMP() - 60) THEN 1 END) AS ready,
       count(CASE WHEN day > CURRENT_DATE THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN day <= CURRENT_DATE AND (opens <= CURRENT_TIME AND CURRENT_TIME < closes AND day = CURRENT_DATE AND (called < NOW(6) OR called IS NULL) AND made < UNIX_TIMESTAMP() - 60) THEN made END) AS SIGNED) AS oldest_ready
FROM   calls
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit
SELECT /* localq.Peek */
       id, number, CAST(day AS CHAR), CAST(heard AS CHAR), made
FROM   calls IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    day <= CURRENT_DATE
AND    (opens <= CURRENT_TIME AND CURRENT_TIME < closes AND day = CURRENT_DATE AND (called < NOW(6) OR called IS NULL) AND made < UNIX_TIMESTAMP() - 60)
AND    ((called > ? OR made > ? - 60))
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* localq.Verify */
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
SELECT /* localq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'number', 'varchar' UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'day', 'date' UNION ALL
           SELECT 'heard', 'datetime' UNION ALL
           SELECT 'made', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'calls'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* localq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'calls'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock Heard
SELECT /* localq.Verify */
       CONCAT('the clock of the database reads ', CAST(NOW(6) AS CHAR), ', and that of the program does not')
FROM   DUAL
WHERE  TIMESTAMPDIFF(MICROSECOND, ?, NOW(6)) / 1000000 NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* localq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'calls_utc_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'calls'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over; rows that wait for their time are read and passed over
-- utcq advises the same
ALTER TABLE calls ADD INDEX calls_utc_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
