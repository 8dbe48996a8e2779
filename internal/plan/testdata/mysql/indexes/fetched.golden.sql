-- Package fetchedq uses the table fetched as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "fetched" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the fence compares column "fetched", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: completed_prio (completed, prio)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* fetchedq.Claim */
       id, CAST(UTC_TIMESTAMP(0) AS CHAR), prio
FROM   fetched FORCE INDEX (completed_prio)
WHERE  completed IS NULL
AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND OR fetched IS NULL)
ORDER  BY prio, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Fetched, 2: list ID
UPDATE /* fetchedq.Claim */ fetched FORCE INDEX (PRIMARY)
SET    completed = NULL,
       fetched = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: fetched as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
SELECT /* fetchedq.Complete */
       id
FROM   fetched FORCE INDEX (PRIMARY)
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: fetched as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
UPDATE /* fetchedq.Complete */ fetched FORCE INDEX (PRIMARY)
SET    completed = UTC_TIMESTAMP(0)
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: fetched as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
SELECT /* fetchedq.Fail */
       id
FROM   fetched FORCE INDEX (PRIMARY)
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: fetched as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
UPDATE /* fetchedq.Fail */ fetched FORCE INDEX (PRIMARY)
SET    completed = NULL,
       fetched = NULL
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: fetched as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
SELECT /* fetchedq.Requeue */
       id
FROM   fetched FORCE INDEX (PRIMARY)
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: fetched as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
UPDATE /* fetchedq.Requeue */ fetched FORCE INDEX (PRIMARY)
SET    completed = NULL,
       fetched = NULL
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: fetched as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
SELECT /* fetchedq.Extend */
       id
FROM   fetched FORCE INDEX (PRIMARY)
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: fetched as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fetched
UPDATE /* fetchedq.Extend */ fetched FORCE INDEX (PRIMARY)
SET    fetched = UTC_TIMESTAMP(0)
WHERE  ((id, fetched) IN ((?, ?)))
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* fetchedq.Extend */
       id, CAST(fetched AS CHAR)
FROM   fetched FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: completed_prio (completed, prio)
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* fetchedq.Purge */ fetched
FROM   (
           SELECT id
           FROM   fetched
           WHERE  completed IS NOT NULL
           AND    completed <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN fetched ON fetched.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Prio
INSERT /* fetchedq.Enqueue */ INTO fetched
       (prio)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Prio
INSERT /* fetchedq.EnqueueMany */ INTO fetched
       (prio)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* fetchedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* fetchedq.Stats */
       count(CASE WHEN completed IS NULL AND (fetched <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND OR fetched IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched > UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN 1 END) AS running,
       count(CASE WHEN completed IS NOT NULL THEN 1 END) AS done,
       count(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched > UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN fetched END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   fetched;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: completed_prio (completed, prio); it reads others as well
SELECT /* fetchedq.Backlog */
       count(*) AS ready
FROM   fetched
WHERE  completed IS NULL
AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND OR fetched IS NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: completed_prio (completed, prio)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* fetchedq.Peek */
       id, prio
FROM   fetched FORCE INDEX (completed_prio)
WHERE  completed IS NULL
AND    (fetched <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND OR fetched IS NULL)
ORDER  BY prio, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* fetchedq.Verify */
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
SELECT /* fetchedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'completed', 'datetime' UNION ALL
           SELECT 'fetched', 'datetime' UNION ALL
           SELECT 'prio', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'fetched'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* fetchedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'fetched'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* fetchedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'completed_prio' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'fetched'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: completed_prio serves already
