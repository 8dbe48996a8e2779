-- Package seenq uses the table seen as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> (deleted), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates seen_expired.
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
-- note: times of column "until" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: a row that waits for its time looks like one that runs: both are hidden by column "until"
-- note: a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)
-- note: whether the database writes column "until" at every change of a row is a setting of the server (explicit_defaults_for_timestamp); a step that does not write it sets it to what it is
-- note: rows are taken as they came, by column "id"; order 1 at column "until" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "tries" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* seenq.Claim */
       id,
       CAST(UNIX_TIMESTAMP(CAST(GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone)) AS DATETIME(0))) * 1000000 AS SIGNED),
       tries + 1
FROM   seen FORCE INDEX (`PRIMARY`)
WHERE  `until` <= NOW(6)
AND    tries < 3
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Until, 2: list ID
UPDATE /* seenq.Claim */ seen FORCE INDEX (PRIMARY)
SET    `until` = FROM_UNIXTIME(? * 0.000001),
       tries = tries + 1
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; `until` <=> `until` always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* seenq.Complete */
       id
FROM   seen FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    `until` <=> `until`
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; `until` <=> `until` always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
DELETE /* seenq.Complete */ seen
FROM   seen FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    `until` <=> `until`;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; `until` <=> `until` always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* seenq.Fail */
       id
FROM   seen FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    `until` <=> `until`
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Tries
UPDATE /* seenq.Fail */ seen FORCE INDEX (PRIMARY)
SET    `until` = GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone))
WHERE  ((id, tries) IN ((?, ?)));

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; `until` <=> `until` always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* seenq.Fail */
       id
FROM   seen FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    `until` <=> `until`
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; `until` <=> `until` always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
DELETE /* seenq.Fail */ seen
FROM   seen FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    `until` <=> `until`;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; `until` <=> `until` always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* seenq.Requeue */
       id
FROM   seen FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    `until` <=> `until`
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: delay, 4: list ID Tries
UPDATE /* seenq.Requeue */ seen FORCE INDEX (PRIMARY)
SET    `until` = CASE WHEN ? > 0.0 THEN GREATEST(NOW(6) + INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '+00:00', @@time_zone)) ELSE NOW(0) END,
       tries = tries - 1
WHERE  ((id, tries) IN ((?, ?)));

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; `until` <=> `until` always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* seenq.Extend */
       id
FROM   seen FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    `until` <=> `until`
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* seenq.Extend */ seen FORCE INDEX (PRIMARY)
SET    `until` = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((id, tries) IN ((?, ?)));

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* seenq.Extend */
       id, CAST(UNIX_TIMESTAMP(`until`) * 1000000 AS SIGNED)
FROM   seen FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (`until`)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* seenq.Recover */ seen
FROM   (
           SELECT id
           FROM   seen
           WHERE  tries >= 3
           AND    `until` <= NOW(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN seen ON seen.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Until
INSERT /* seenq.Enqueue */ INTO seen
       (`until`)
VALUES (coalesce(FROM_UNIXTIME(? * 0.000001), NOW(0)));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Until
INSERT /* seenq.EnqueueMany */ INTO seen
       (`until`)
VALUES (coalesce(FROM_UNIXTIME(? * 0.000001), NOW(0)));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* seenq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* seenq.Stats */
       count(CASE WHEN `until` <= NOW(6) AND tries < 3 THEN 1 END) AS ready,
       count(CASE WHEN `until` > NOW(6) THEN 1 END) AS running,
       count(CASE WHEN tries < 3 AND `until` > NOW(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN `until` <= NOW(6) AND tries < 3 THEN `until` END), NOW(6)) / 1000000 AS oldest_ready
FROM   seen;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* seenq.Peek */
       id, CAST(UNIX_TIMESTAMP(`until`) * 1000000 AS SIGNED), tries
FROM   seen FORCE INDEX (`PRIMARY`)
WHERE  `until` <= NOW(6)
AND    tries < 3
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* seenq.Verify */
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
SELECT /* seenq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'until', 'timestamp' UNION ALL
           SELECT 'tries', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'seen'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* seenq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'seen'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* seenq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least UNION ALL
           SELECT 'seen_expired', 'until', 'until'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'seen'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over; rows that wait for their time are read and passed over: PRIMARY serves already

-- serves Recover: claims that ran out
ALTER TABLE seen ADD INDEX seen_expired (`until`), ALGORITHM=INPLACE, LOCK=NONE;
