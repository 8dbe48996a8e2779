-- Package runsq uses the table runs as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready.
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
-- note: times of column "made" have 10 digits, which last until 20 November 2286
-- note: rows are taken as they came, by column "id"; order 1 at column "run_text" takes them by their time, and reads none that wait for theirs

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Claim */
       id
FROM   runs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    run_text <= LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0')
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* runsq.Claim */ runs FORCE INDEX (PRIMARY)
SET    state = 'A',
       held_till = LPAD(CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) + INTERVAL 300 SECOND) AS SIGNED), 17, '0')
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* runsq.Claim */
       id, run_text, held_till, made, tries, body
FROM   runs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: held_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
SELECT /* runsq.Complete */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
UPDATE /* runsq.Complete */ runs FORCE INDEX (PRIMARY)
SET    state = 'D',
       held_till = NULL,
       ended = LPAD(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) AS SIGNED), 14, '0')
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: held_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
SELECT /* runsq.Fail */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
UPDATE /* runsq.Fail */ runs FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_text = LPAD(GREATEST(0, LEAST(CAST(FLOOR(UNIX_TIMESTAMP() + (60 * (tries + 1))) AS SIGNED), 99999999999)), 11, '0'),
       held_till = NULL,
       tries = tries + 1
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: held_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
SELECT /* runsq.Fail */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
UPDATE /* runsq.Fail */ runs FORCE INDEX (PRIMARY)
SET    state = 'F',
       held_till = NULL,
       tries = tries + 1
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: held_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
SELECT /* runsq.Requeue */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID HeldTill
UPDATE /* runsq.Requeue */ runs FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_text = CASE WHEN ? > 0.0 THEN LPAD(GREATEST(0, LEAST(CAST(FLOOR(UNIX_TIMESTAMP() + ?) AS SIGNED), 99999999999)), 11, '0') ELSE run_text END,
       held_till = NULL
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: held_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
SELECT /* runsq.Extend */
       id
FROM   runs FORCE INDEX (PRIMARY)
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldTill
UPDATE /* runsq.Extend */ runs FORCE INDEX (PRIMARY)
SET    held_till = LPAD(CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) + INTERVAL 300 SECOND) AS SIGNED), 17, '0')
WHERE  ((id, held_till) IN ((?, ?)))
AND    state = 'A';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* runsq.Extend */
       id, held_till
FROM   runs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Recover */ (
           SELECT id
           FROM   runs
           WHERE  state = 'A'
           AND    tries < 2
           AND    held_till <= LPAD(CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS SIGNED), 17, '0')
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id
SET    state = 'N',
       held_till = NULL,
       tries = runs.tries + 1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Recover */ (
           SELECT id
           FROM   runs
           WHERE  state = 'A'
           AND    tries >= 2
           AND    held_till <= LPAD(CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS SIGNED), 17, '0')
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id
SET    state = 'F',
       held_till = NULL,
       tries = runs.tries + 1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ (
           SELECT id
           FROM   runs
           WHERE  state = 'F'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id
SET    state = 'N',
       held_till = NULL,
       tries = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ runs
FROM   (
           SELECT id
           FROM   runs
           WHERE  state = 'D'
           AND    ended <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL ? SECOND) / 1000) AS SIGNED), 99999999999999)), 14, '0')
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ runs
FROM   (
           SELECT id
           FROM   runs
           WHERE  state = 'F'
           AND    made <= LPAD(GREATEST(0, LEAST(CAST(FLOOR(UNIX_TIMESTAMP() - ?) AS SIGNED), 9999999999)), 10, '0')
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN runs ON runs.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunText, 2: new Body
INSERT /* runsq.Enqueue */ INTO runs
       (run_text, made, body)
VALUES (coalesce(?, LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0')),
        LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 10, '0'), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list RunText Body
INSERT /* runsq.EnqueueMany */ INTO runs
       (run_text, made, body)
VALUES (coalesce(?, LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0')), LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 10, '0'), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* runsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(CASE WHEN state = 'N' AND run_text <= LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0') THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'F' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND run_text > LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0') THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'A' AND held_till <= LPAD(CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS SIGNED), 17, '0') THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN state = 'N' AND run_text <= LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0') THEN made END) AS SIGNED) AS oldest_ready
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* runsq.Backlog */
       count(CASE WHEN run_text <= LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0') THEN 1 END) AS ready,
       count(CASE WHEN run_text > LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0') THEN 1 END) AS `delayed`,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN run_text <= LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0') THEN made END) AS SIGNED) AS oldest_ready
FROM   runs
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, run_text, made, tries, body
FROM   runs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    run_text <= LPAD(CAST(UNIX_TIMESTAMP() AS SIGNED), 11, '0')
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
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
SELECT /* runsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'run_text', 'varchar' UNION ALL
           SELECT 'held_till', 'varchar' UNION ALL
           SELECT 'made', 'char' UNION ALL
           SELECT 'ended', 'varchar' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'body', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'runs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* runsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'runs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'runs_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'runs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE runs ADD INDEX runs_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
