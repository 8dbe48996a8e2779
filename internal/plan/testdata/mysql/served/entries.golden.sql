-- Package entriesq uses the table entries as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
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
--   token        no index can give this order, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: rows without a value in column "house" stand first in the order, where MySQL puts nulls (nulls=last puts them last)
-- note: no index is advised: none gives the order of this queue, and nothing that an index holds tells ready rows from others; every claim reads the table and sorts the ready rows

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table and sorts the ready rows
-- isolation: read committed
-- arguments: 1: ahead, 2: limit
SELECT /* entriesq.Claim */
       entries.id, entries.house, CAST(entries.added AS CHAR),
       CAST(UTC_TIMESTAMP(6) AS CHAR)
FROM   (
           SELECT id AS candidate_1,
                  ((select count(*) from entries e where e.house = entries.house and e.beat > UTC_TIMESTAMP(6) - interval 10 minute)) AS candidate_2,
                  house AS candidate_3, added AS candidate_4
           FROM   entries
           WHERE  (beat <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND OR beat IS NULL)
           ORDER  BY candidate_2, house, added, id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN entries FORCE INDEX (PRIMARY) ON entries.id = candidate.candidate_1
WHERE  (entries.beat <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND OR entries.beat IS NULL)
ORDER  BY candidate.candidate_2, candidate.candidate_3, candidate.candidate_4, candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Beat, 2: list ID
UPDATE /* entriesq.Claim */ entries FORCE INDEX (PRIMARY)
SET    beat = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* entriesq.Complete */
       id
FROM   entries FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
DELETE /* entriesq.Complete */ entries
FROM   entries FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* entriesq.Fail */
       id
FROM   entries FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
DELETE /* entriesq.Fail */ entries
FROM   entries FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* entriesq.Requeue */
       id
FROM   entries FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
UPDATE /* entriesq.Requeue */ entries FORCE INDEX (PRIMARY)
SET    beat = NULL
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* entriesq.Extend */
       id
FROM   entries FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
UPDATE /* entriesq.Extend */ entries FORCE INDEX (PRIMARY)
SET    beat = UTC_TIMESTAMP(6)
WHERE  ((id, beat) IN ((?, ?)))
AND    beat IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* entriesq.Extend */
       id, CAST(beat AS CHAR)
FROM   entries FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new House
INSERT /* entriesq.Enqueue */ INTO entries
       (house, added)
VALUES (?, UTC_TIMESTAMP(6));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list House
INSERT /* entriesq.EnqueueMany */ INTO entries
       (house, added)
VALUES (?, UTC_TIMESTAMP(6));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* entriesq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* entriesq.Stats */
       count(CASE WHEN (beat <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND OR beat IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN beat IS NOT NULL AND beat > UTC_TIMESTAMP(6) - INTERVAL 600 SECOND THEN 1 END) AS running,
       count(CASE WHEN beat IS NOT NULL AND beat <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (beat <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND OR beat IS NULL) THEN added END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN beat IS NOT NULL AND beat > UTC_TIMESTAMP(6) - INTERVAL 600 SECOND THEN beat END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   entries;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: none; it reads the table and sorts the ready rows
-- isolation: read committed
-- arguments: 1: limit
SELECT /* entriesq.Peek */
       id, house, CAST(added AS CHAR)
FROM   entries
WHERE  (beat <= UTC_TIMESTAMP(6) - INTERVAL 600 SECOND OR beat IS NULL)
ORDER  BY ((select count(*) from entries e where e.house = entries.house and e.beat > UTC_TIMESTAMP(6) - interval 10 minute)), house, added, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* entriesq.Verify */
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
SELECT /* entriesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'house', 'varchar' UNION ALL
           SELECT 'added', 'datetime' UNION ALL
           SELECT 'beat', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'entries'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* entriesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'entries'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';
