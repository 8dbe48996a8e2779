-- Package channelsq uses the table channels as a queue of jobs on MySQL 8.4 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates channels_expired.
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
-- index: channels_claim (channel, fail, beat, priority, id)
-- isolation: read committed
-- arguments: 1: param channel string, 2: limit
SELECT /* channelsq.Claim */
       id, channel, UNIX_TIMESTAMP(), priority
FROM   channels FORCE INDEX (channels_claim)
WHERE  fail = FALSE
AND    beat IS NULL
AND    channel = ?
ORDER  BY priority, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Beat, 2: list ID
UPDATE /* channelsq.Claim */ channels FORCE INDEX (PRIMARY)
SET    beat = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: beat as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Beat
SELECT /* channelsq.Complete */
       id
FROM   channels FORCE INDEX (PRIMARY)
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
DELETE /* channelsq.Complete */ channels
FROM   channels FORCE INDEX (PRIMARY)
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
SELECT /* channelsq.Fail */
       id
FROM   channels FORCE INDEX (PRIMARY)
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
UPDATE /* channelsq.Fail */ channels FORCE INDEX (PRIMARY)
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
SELECT /* channelsq.Requeue */
       id
FROM   channels FORCE INDEX (PRIMARY)
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
UPDATE /* channelsq.Requeue */ channels FORCE INDEX (PRIMARY)
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
SELECT /* channelsq.Extend */
       id
FROM   channels FORCE INDEX (PRIMARY)
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
UPDATE /* channelsq.Extend */ channels FORCE INDEX (PRIMARY)
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
SELECT /* channelsq.Extend */
       id, beat
FROM   channels FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (fail, beat)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* channelsq.Recover */ (
           SELECT id
           FROM   channels
           WHERE  fail = FALSE
           AND    beat IS NOT NULL
           AND    beat <= FLOOR(UNIX_TIMESTAMP() - 600)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN channels ON channels.id = picked.id
SET    beat = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* channelsq.Redrive */ (
           SELECT id
           FROM   channels
           WHERE  fail = TRUE
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN channels ON channels.id = picked.id
SET    fail = FALSE,
       beat = NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (fail, beat) would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* channelsq.Purge */ channels
FROM   (
           SELECT id
           FROM   channels
           WHERE  fail = TRUE
           AND    beat <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN channels ON channels.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Channel, 2: new Priority
INSERT /* channelsq.Enqueue */ INTO channels
       (channel, priority)
VALUES (?, coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Channel Priority
INSERT /* channelsq.EnqueueMany */ INTO channels
       (channel, priority)
VALUES (?, coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* channelsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* channelsq.Stats */
       count(CASE WHEN fail = FALSE AND beat IS NULL THEN 1 END) AS ready,
       count(CASE WHEN fail = FALSE AND beat IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN fail = TRUE THEN 1 END) AS failed,
       count(CASE WHEN fail = FALSE AND beat IS NOT NULL AND beat <= FLOOR(UNIX_TIMESTAMP() - 600) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN fail = FALSE AND beat IS NOT NULL THEN beat END) AS SIGNED) AS oldest_running
FROM   channels;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same channel is for
-- locks: none
-- index: channels_claim (channel, fail, beat, priority, id)
-- arguments: 1: param channel string
SELECT /* channelsq.StatsOf */
       count(CASE WHEN fail = FALSE AND beat IS NULL THEN 1 END) AS ready,
       count(CASE WHEN fail = FALSE AND beat IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN fail = TRUE THEN 1 END) AS failed,
       count(CASE WHEN fail = FALSE AND beat IS NOT NULL AND beat <= FLOOR(UNIX_TIMESTAMP() - 600) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN fail = FALSE AND beat IS NOT NULL THEN beat END) AS SIGNED) AS oldest_running
FROM   channels
WHERE  channel = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by channel
-- locks: none
-- index: none; it reads the whole table
SELECT /* channelsq.Backlog */
       channel,
       count(*) AS ready
FROM   channels USE INDEX FOR GROUP BY ()
WHERE  fail = FALSE
AND    beat IS NULL
GROUP  BY channel
ORDER  BY channel;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: channels_claim (channel, fail, beat, priority, id)
-- isolation: read committed
-- arguments: 1: param channel string, 2: limit
SELECT /* channelsq.Peek */
       id, channel, priority
FROM   channels FORCE INDEX (channels_claim)
WHERE  fail = FALSE
AND    beat IS NULL
AND    channel = ?
ORDER  BY priority, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* channelsq.Verify */
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
SELECT /* channelsq.Verify */
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
       AND have.table_name = 'channels'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* channelsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'channels'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* channelsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'channels_claim' AS name, '' AS columns, '' AS least UNION ALL
           SELECT 'channels_expired', 'fail, beat', 'fail, beat'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'channels'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing: channels_claim serves already

-- serves Recover: claims that ran out, among the rows that somebody has
ALTER TABLE channels ADD INDEX channels_expired (fail, beat), ALGORITHM=INPLACE, LOCK=NONE;
