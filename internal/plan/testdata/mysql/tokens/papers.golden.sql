-- Package papersq uses the table papers as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates papers_ready and papers_token.
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
--   lock_update  not needed: token comes first
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for
-- note: failed:=1 is only written, so nothing tells a failed row: there is no Redrive and no Purge of it; failed=… tests it as well
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (retired, room, id)
-- isolation: read committed
-- arguments: 1: param room string, 2: limit, 3: token Handle
UPDATE /* papersq.Claim */ (
           SELECT id
           FROM   papers IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  retired = FALSE
           AND    (pulled <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND OR pulled IS NULL)
           AND    room = ?
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN papers ON papers.id = picked.id
SET    handle = ?,
       pulled = UTC_TIMESTAMP(0);

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: (retired, room, id); it reads others as well
-- isolation: read committed
-- arguments: 1: token Handle
SELECT /* papersq.Claim */
       id, room, handle, CAST(pulled AS CHAR)
FROM   papers
WHERE  handle = ?
AND    retired = FALSE
AND    pulled IS NOT NULL
AND    pulled > UTC_TIMESTAMP(6) - INTERVAL 300 SECOND;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* papersq.Complete */
       id
FROM   papers FORCE INDEX (PRIMARY)
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* papersq.Complete */ papers FORCE INDEX (PRIMARY)
SET    retired = TRUE
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* papersq.Fail */
       id
FROM   papers FORCE INDEX (PRIMARY)
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* papersq.Fail */ papers FORCE INDEX (PRIMARY)
SET    retired = TRUE
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* papersq.Requeue */
       id
FROM   papers FORCE INDEX (PRIMARY)
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* papersq.Requeue */ papers FORCE INDEX (PRIMARY)
SET    handle = '',
       pulled = NULL
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* papersq.Extend */
       id
FROM   papers FORCE INDEX (PRIMARY)
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* papersq.Extend */ papers FORCE INDEX (PRIMARY)
SET    pulled = UTC_TIMESTAMP(0)
WHERE  ((id, handle) IN ((?, ?)))
AND    retired = FALSE
AND    pulled IS NOT NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (retired, room, id); it reads those that are not old enough as well, which one on (retired, pulled) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* papersq.Purge */ papers
FROM   (
           SELECT id
           FROM   papers
           WHERE  retired = TRUE
           AND    pulled <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN papers ON papers.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Room
INSERT /* papersq.Enqueue */ INTO papers
       (retired, room)
VALUES (FALSE, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Room
INSERT /* papersq.EnqueueMany */ INTO papers
       (retired, room)
VALUES (FALSE, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* papersq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* papersq.Stats */
       count(CASE WHEN retired = FALSE AND (pulled <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND OR pulled IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN retired = FALSE AND pulled IS NOT NULL AND pulled > UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS running,
       count(CASE WHEN retired = TRUE THEN 1 END) AS done,
       count(CASE WHEN retired = FALSE AND pulled IS NOT NULL AND pulled <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN retired = FALSE AND pulled IS NOT NULL AND pulled > UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN pulled END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   papers;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same room is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param room string
SELECT /* papersq.StatsOf */
       count(CASE WHEN retired = FALSE AND (pulled <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND OR pulled IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN retired = FALSE AND pulled IS NOT NULL AND pulled > UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS running,
       count(CASE WHEN retired = TRUE THEN 1 END) AS done,
       count(CASE WHEN retired = FALSE AND pulled IS NOT NULL AND pulled <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN retired = FALSE AND pulled IS NOT NULL AND pulled > UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN pulled END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   papers
WHERE  room = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by room
-- locks: none
-- index: (retired, room, id); it reads others as well
SELECT /* papersq.Backlog */
       room,
       count(*) AS ready
FROM   papers
WHERE  retired = FALSE
AND    (pulled <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND OR pulled IS NULL)
GROUP  BY room
ORDER  BY room;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (retired, room, id)
-- isolation: read committed
-- arguments: 1: param room string, 2: limit
SELECT /* papersq.Peek */
       id, room, handle
FROM   papers IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  retired = FALSE
AND    (pulled <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND OR pulled IS NULL)
AND    room = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* papersq.Verify */
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
SELECT /* papersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'retired', 'tinyint' UNION ALL
           SELECT 'room', 'varchar' UNION ALL
           SELECT 'handle', 'varchar' UNION ALL
           SELECT 'pulled', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'papers'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* papersq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'papers'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* papersq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'papers_ready' AS name, 'retired, room, id' AS columns, 'retired, room' AS least UNION ALL
           SELECT 'papers_token', 'handle', 'handle'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'papers'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE papers ADD INDEX papers_ready (retired, room, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Claim: reads back the rows that the token marks
ALTER TABLE papers ADD INDEX papers_token (handle), ALGORITHM=INPLACE, LOCK=NONE;
