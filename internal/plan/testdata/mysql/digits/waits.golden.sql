-- Package waitsq uses the table waits as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "since" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "last_at" takes them by their time, and reads none that wait for theirs
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitsq.Claim */
       id
FROM   waits FORCE INDEX (`PRIMARY`)
WHERE  (since <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL wait_s SECOND) / 1000) AS SIGNED), 99999999999999)), 14, '0') OR since IS NULL)
AND    (last_at <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(UNIX_TIMESTAMP() - wait_s) AS SIGNED), 99999999999)), 11, '0') OR last_at IS NULL)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* waitsq.Claim */ waits FORCE INDEX (PRIMARY)
SET    since = LPAD(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) AS SIGNED), 14, '0')
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* waitsq.Claim */
       id, last_at, since, wait_s
FROM   waits FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* waitsq.Complete */
       id
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
DELETE /* waitsq.Complete */ waits
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* waitsq.Fail */
       id
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* waitsq.Fail */ waits FORCE INDEX (PRIMARY)
SET    last_at = LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0'),
       since = NULL
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* waitsq.Requeue */
       id
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* waitsq.Requeue */ waits FORCE INDEX (PRIMARY)
SET    since = NULL
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* waitsq.Extend */
       id
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* waitsq.Extend */ waits FORCE INDEX (PRIMARY)
SET    since = LPAD(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) AS SIGNED), 14, '0')
WHERE  ((id, since) IN ((?, ?)))
AND    since IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* waitsq.Extend */
       id, since
FROM   waits FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new LastAt, 2: new WaitS
INSERT /* waitsq.Enqueue */ INTO waits
       (last_at, wait_s)
VALUES (?, coalesce(?, 60));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list LastAt WaitS
INSERT /* waitsq.EnqueueMany */ INTO waits
       (last_at, wait_s)
VALUES (?, coalesce(?, 60));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* waitsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(CASE WHEN (since <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL wait_s SECOND) / 1000) AS SIGNED), 99999999999999)), 14, '0') OR since IS NULL) AND (last_at <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(UNIX_TIMESTAMP() - wait_s) AS SIGNED), 99999999999)), 11, '0') OR last_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN since IS NOT NULL AND since > LPAD(GREATEST(0, LEAST(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL wait_s SECOND) / 1000) AS SIGNED), 99999999999999)), 14, '0') THEN 1 END) AS running,
       count(CASE WHEN last_at > LPAD(GREATEST(0, LEAST(CAST(FLOOR(UNIX_TIMESTAMP() - wait_s) AS SIGNED), 99999999999)), 11, '0') THEN 1 END) AS `delayed`,
       count(CASE WHEN since IS NOT NULL AND since <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL wait_s SECOND) / 1000) AS SIGNED), 99999999999999)), 14, '0') THEN 1 END) AS expired,
       (CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) AS SIGNED) - CAST(min(CASE WHEN since IS NOT NULL AND since > LPAD(GREATEST(0, LEAST(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL wait_s SECOND) / 1000) AS SIGNED), 99999999999999)), 14, '0') THEN since END) AS SIGNED)) / 1000 AS oldest_running
FROM   waits;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       id, last_at, wait_s
FROM   waits FORCE INDEX (`PRIMARY`)
WHERE  (since <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL wait_s SECOND) / 1000) AS SIGNED), 99999999999999)), 14, '0') OR since IS NULL)
AND    (last_at <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(UNIX_TIMESTAMP() - wait_s) AS SIGNED), 99999999999)), 11, '0') OR last_at IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
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
SELECT /* waitsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'last_at', 'char' UNION ALL
           SELECT 'since', 'varchar' UNION ALL
           SELECT 'wait_s', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'waits'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* waitsq.Verify */
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
SELECT /* waitsq.Verify */
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
                      AND    table_name = 'waits'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PRIMARY serves already
