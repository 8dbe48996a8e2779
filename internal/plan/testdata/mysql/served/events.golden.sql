-- Package eventsq uses the table events as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- The engine locks the table while each of its statements runs, and a caller's transaction cannot take back what they wrote. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table is of the engine MyISAM, which has no transactions and locks no rows: what is written stays written, whatever becomes of the transaction of the caller's. The package works over InnoDB as well, and Verify takes that; generated again from such a DDL it settles many jobs at once.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  the engine MyISAM has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: token comes first
--   pop          the engine MyISAM has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: rows that are alike in column "at" are taken as the index marked has them: in the order of the key as well, MySQL would sort all ready rows for each claim

-- sql/claim.sql
-- claim: ready to running
-- locks: the table, while the statement runs
-- index: marked (marked, at)
-- isolation: read committed
-- arguments: 1: limit, 2: token Marked
UPDATE /* eventsq.Claim */ (
           SELECT fleet
           FROM   events FORCE INDEX (marked)
           WHERE  marked IS NULL
           AND    at <= UNIX_TIMESTAMP()
           ORDER  BY at
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN events ON events.fleet = picked.fleet
SET    marked = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: marked (marked, at)
-- isolation: read committed
-- arguments: 1: token Marked
SELECT /* eventsq.Claim */
       fleet, at, marked
FROM   events
WHERE  marked = ?
AND    marked IS NOT NULL;

-- sql/complete_held.sql
-- complete: reads whether the claim is still the caller's, where complete.sql changed nothing
-- fence: marked as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Fleet Marked
SELECT /* eventsq.Complete */
       fleet
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((fleet, marked) IN ((?, ?)))
AND    marked IS NOT NULL;

-- sql/complete.sql
-- complete: running to done
-- fence: marked as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list Fleet Marked
DELETE /* eventsq.Complete */ events
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((fleet, marked) IN ((?, ?)))
AND    marked IS NOT NULL;

-- sql/retry_held.sql
-- retry: reads whether the claim is still the caller's, where retry.sql changed nothing
-- fence: marked as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Fleet Marked
SELECT /* eventsq.Fail */
       fleet
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((fleet, marked) IN ((?, ?)))
AND    marked IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready
-- fence: marked as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list Fleet Marked
UPDATE /* eventsq.Fail */ events FORCE INDEX (PRIMARY)
SET    at = FLOOR(UNIX_TIMESTAMP() + ?),
       marked = NULL
WHERE  ((fleet, marked) IN ((?, ?)))
AND    marked IS NOT NULL;

-- sql/requeue_held.sql
-- requeue: reads whether the claim is still the caller's, where requeue.sql changed nothing
-- fence: marked as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Fleet Marked
SELECT /* eventsq.Requeue */
       fleet
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((fleet, marked) IN ((?, ?)))
AND    marked IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: marked as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list Fleet Marked
UPDATE /* eventsq.Requeue */ events FORCE INDEX (PRIMARY)
SET    at = CASE WHEN ? > 0.0 THEN FLOOR(UNIX_TIMESTAMP() + ?) ELSE at END,
       marked = NULL
WHERE  ((fleet, marked) IN ((?, ?)))
AND    marked IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the table, while the statement runs
-- arguments: 1: new Fleet, 2: new At
INSERT /* eventsq.Enqueue */ INTO events
       (fleet, at)
VALUES (?, coalesce(?, UNIX_TIMESTAMP()));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the table, while the statement runs
-- arguments: 1: new_list Fleet At
INSERT /* eventsq.EnqueueMany */ INTO events
       (fleet, at)
VALUES (?, coalesce(?, UNIX_TIMESTAMP()));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(CASE WHEN marked IS NULL AND at <= UNIX_TIMESTAMP() THEN 1 END) AS ready,
       count(CASE WHEN marked IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN marked IS NULL AND at > UNIX_TIMESTAMP() THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN marked IS NULL AND at <= UNIX_TIMESTAMP() THEN at END) AS SIGNED) AS oldest_ready
FROM   events;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: marked (marked, at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       fleet, at
FROM   events FORCE INDEX (marked)
WHERE  marked IS NULL
AND    at <= UNIX_TIMESTAMP()
ORDER  BY at
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
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
SELECT /* eventsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'fleet' AS name, 'int' AS type UNION ALL
           SELECT 'at', 'int' UNION ALL
           SELECT 'marked', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* eventsq.Verify */
       'binlog_format is STATEMENT, which refuses writes to an InnoDB table at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'events'
AND    have.engine = 'InnoDB'
AND    @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'marked' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'events'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; it also serves Claim: reads back the rows that the token marks: marked serves already
