-- Package mailsq uses the table mails as a queue of jobs on MySQL 9.7 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Later-----------> ready
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 9.7 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: on retry, column "run_at" gets [{now} + INTERVAL {arg:minutes} MINUTE] as qgen:on says, not now + {delay} as qgen:due would
-- note: on renew, column "till" gets now + 15m as qgen:on says, not now + 5m as qgen:lease would
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Claim */
       id, CAST(UNIX_TIMESTAMP(run_at) * 1000000 AS SIGNED),
       CAST(UNIX_TIMESTAMP(GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))) * 1000000 AS SIGNED),
       fails
FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
AND    (run_at <= NOW(6) OR run_at IS NULL)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: given cost int, 3: list ID
UPDATE /* mailsq.Claim */ mails FORCE INDEX (PRIMARY)
SET    state = 1,
       till = FROM_UNIXTIME(? * 0.000001),
       tries = (tries + ?)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Complete */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Cost, 2: list ID More, 3: list ID Till
UPDATE /* mailsq.Complete */ mails FORCE INDEX (PRIMARY)
SET    state = 2,
       till = NULL,
       tries = (tries + CASE WHEN id = ? THEN ? END),
       note = (concat(note, CASE WHEN id = ? THEN (?) END))
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Fail */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given minutes int, 2: given minutes int, 3: list ID Till
UPDATE /* mailsq.Fail */ mails FORCE INDEX (PRIMARY)
SET    state = 0,
       run_at = (NOW(6) + INTERVAL ? MINUTE),
       till = NULL,
       tries = (tries + ?),
       fails = fails + 1
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Fail */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* mailsq.Fail */ mails FORCE INDEX (PRIMARY)
SET    state = 3,
       till = NULL,
       fails = fails + 1
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Requeue */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: delay, 4: list ID Till
UPDATE /* mailsq.Requeue */ mails FORCE INDEX (PRIMARY)
SET    state = 0,
       run_at = CASE WHEN ? > 0.0 THEN GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone)) ELSE run_at END,
       till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Extend */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* mailsq.Extend */ mails FORCE INDEX (PRIMARY)
SET    till = GREATEST(NOW(6) + INTERVAL 900 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 900 SECOND, '+00:00', @@time_zone))
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Extend */
       id, CAST(UNIX_TIMESTAMP(till) * 1000000 AS SIGNED)
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/outcome_later_lock.sql
-- outcome_later: locks the rows of jobs whose claims are still theirs, which outcome_later.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Later */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1
FOR    UPDATE;

-- sql/outcome_later.sql
-- outcome_later: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given delay time.Duration, 2: given delay time.Duration, 3: given cost int, 4: list ID Till
UPDATE /* mailsq.Later */ mails FORCE INDEX (PRIMARY)
SET    state = 0,
       run_at = GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone)),
       till = NULL,
       tries = (tries + ?)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 1;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ (
           SELECT id
           FROM   mails
           WHERE  state = 1
           AND    fails < 2
           AND    till <= NOW(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id
SET    state = 0,
       till = NULL,
       fails = mails.fails + 1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ (
           SELECT id
           FROM   mails
           WHERE  state = 1
           AND    fails >= 2
           AND    till <= NOW(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id
SET    state = 3,
       till = NULL,
       fails = mails.fails + 1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: given first int64
UPDATE /* mailsq.Redrive */ (
           SELECT id
           FROM   mails
           WHERE  state = 3
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id
SET    state = 0,
       till = NULL,
       fails = 0,
       step = (step + ?);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ mails
FROM   (
           SELECT id
           FROM   mails
           WHERE  state = 2
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ mails
FROM   (
           SELECT id
           FROM   mails
           WHERE  state = 3
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Delay, 2: new Delay, 3: new First, 4: new First
INSERT /* mailsq.Enqueue */ INTO mails
       (run_at, step)
VALUES (GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone)),
        (? * ?));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Delay Delay First First
INSERT /* mailsq.EnqueueMany */ INTO mails
       (run_at, step)
VALUES (GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone)), (? * ?));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* mailsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN state = 0 AND (run_at <= NOW(6) OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = 3 THEN 1 END) AS failed,
       count(CASE WHEN state = 0 AND run_at > NOW(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 1 AND till <= NOW(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 0 AND (run_at <= NOW(6) OR run_at IS NULL) THEN run_at END), NOW(6)) / 1000000 AS oldest_ready
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* mailsq.Backlog */
       count(CASE WHEN (run_at <= NOW(6) OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN run_at > NOW(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (run_at <= NOW(6) OR run_at IS NULL) THEN run_at END), NOW(6)) / 1000000 AS oldest_ready
FROM   mails
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, CAST(UNIX_TIMESTAMP(run_at) * 1000000 AS SIGNED), fails
FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
AND    (run_at <= NOW(6) OR run_at IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 9.7')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 90700;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'int' UNION ALL
           SELECT 'run_at', 'timestamp' UNION ALL
           SELECT 'till', 'timestamp' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'note', 'varchar' UNION ALL
           SELECT 'fails', 'int' UNION ALL
           SELECT 'step', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'mails'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'mails'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'mails_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'mails'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE mails ADD INDEX mails_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
