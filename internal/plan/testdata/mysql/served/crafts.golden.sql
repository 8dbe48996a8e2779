-- Package craftsq uses the table crafts as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
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
-- note: the fence compares column "beat", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: crafts_claim (channel, fail, beat, priority, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* craftsq.Claim */
       id, channel, UNIX_TIMESTAMP(), priority
FROM   crafts FORCE INDEX (crafts_claim)
WHERE  fail = FALSE
AND    beat IS NULL
AND    (channel = 'queue')
ORDER  BY priority, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Beat, 2: list ID
UPDATE /* craftsq.Claim */ crafts FORCE INDEX (PRIMARY)
SET    beat = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* craftsq.Complete */
       id
FROM   crafts FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
DELETE /* craftsq.Complete */ crafts
FROM   crafts FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* craftsq.Fail */
       id
FROM   crafts FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
UPDATE /* craftsq.Fail */ crafts FORCE INDEX (PRIMARY)
SET    fail = TRUE
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* craftsq.Requeue */
       id
FROM   crafts FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
UPDATE /* craftsq.Requeue */ crafts FORCE INDEX (PRIMARY)
SET    beat = NULL
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* craftsq.Extend */
       id
FROM   crafts FORCE INDEX (PRIMARY)
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: beat as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
UPDATE /* craftsq.Extend */ crafts FORCE INDEX (PRIMARY)
SET    beat = UNIX_TIMESTAMP()
WHERE  ((id, beat) IN ((?, ?)))
AND    fail = FALSE
AND    beat IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* craftsq.Extend */
       id, beat
FROM   crafts FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: crafts_claim (channel, fail, beat, priority, id), which finds the rows that somebody has by channel, fail, beat
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* craftsq.Recover */ (
           SELECT id
           FROM   crafts
           WHERE  fail = FALSE
           AND    beat IS NOT NULL
           AND    (channel = 'queue')
           AND    beat <= FLOOR(UNIX_TIMESTAMP() - 600)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN crafts ON crafts.id = picked.id
SET    beat = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: crafts_claim (channel, fail, beat, priority, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* craftsq.Redrive */ (
           SELECT id
           FROM   crafts
           WHERE  fail = TRUE
           AND    (channel = 'queue')
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN crafts ON crafts.id = picked.id
SET    fail = FALSE,
       beat = NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: crafts_claim (channel, fail, beat, priority, id)
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* craftsq.Purge */ crafts
FROM   (
           SELECT id
           FROM   crafts
           WHERE  fail = TRUE
           AND    (channel = 'queue')
           AND    beat <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN crafts ON crafts.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Channel, 2: new Priority
INSERT /* craftsq.Enqueue */ INTO crafts
       (channel, priority)
VALUES (coalesce(?, 'queue'), coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Channel Priority
INSERT /* craftsq.EnqueueMany */ INTO crafts
       (channel, priority)
VALUES (coalesce(?, 'queue'), coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* craftsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: crafts_claim (channel, fail, beat, priority, id)
SELECT /* craftsq.Stats */
       count(CASE WHEN fail = FALSE AND beat IS NULL THEN 1 END) AS ready,
       count(CASE WHEN fail = FALSE AND beat IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN fail = TRUE THEN 1 END) AS failed,
       count(CASE WHEN fail = FALSE AND beat IS NOT NULL AND beat <= FLOOR(UNIX_TIMESTAMP() - 600) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN fail = FALSE AND beat IS NOT NULL THEN beat END) AS SIGNED) AS oldest_running
FROM   crafts
WHERE  (channel = 'queue');

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: crafts_claim (channel, fail, beat, priority, id)
SELECT /* craftsq.Backlog */
       count(*) AS ready
FROM   crafts
WHERE  fail = FALSE
AND    beat IS NULL
AND    (channel = 'queue');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: crafts_claim (channel, fail, beat, priority, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* craftsq.Peek */
       id, channel, priority
FROM   crafts FORCE INDEX (crafts_claim)
WHERE  fail = FALSE
AND    beat IS NULL
AND    (channel = 'queue')
ORDER  BY priority, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* craftsq.Verify */
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
SELECT /* craftsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'channel', 'varchar' UNION ALL
           SELECT 'fail', 'tinyint' UNION ALL
           SELECT 'beat', 'int' UNION ALL
           SELECT 'priority', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'crafts'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* craftsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'crafts'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* craftsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'crafts_claim' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'crafts'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; it also serves Recover: rows that somebody has, which are few: crafts_claim serves already
