-- Package conversionsq uses the table conversions as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of all jobs of the queue, at most 4 run at once; a claim locks a row of settings that stands for the queue, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. When as many run as may, Claim returns no jobs. Without that row nothing is claimed, and Verify says so. Claims follow one another: each waits until the one before it is committed, so a transaction of the caller's own that claims is to be short.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates conversions_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        no index can give this order, and rows that are sorted are all locked first
--   token        no index can give this order, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          it writes no running state, so the running rows of the queue cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_gate.sql
-- claim: one at a time, so that what runs can be counted
-- locks: the row of settings, until commit; without it nothing is claimed
-- index: of settings, whichever finds that row
-- isolation: read committed
SELECT /* conversionsq.Claim */
       1
FROM   settings
WHERE  id = 1
FOR    UPDATE;

-- sql/claim_room.sql
-- claim: how many more rows may run
-- locks: none
-- index: (state, weight DESC, id)
-- isolation: read committed
SELECT /* conversionsq.Claim */
       4 - (
           SELECT count(*)
           FROM   conversions
           WHERE  state = 'busy'
       );

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: ahead, 2: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* conversionsq.Claim */
       conversions.id, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR),
       conversions.weight
FROM   (
           SELECT id AS candidate_1, weight AS candidate_2
           FROM   conversions
           WHERE  state = 'new'
           ORDER  BY weight DESC, id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN conversions FORCE INDEX (PRIMARY) ON conversions.id = candidate.candidate_1
WHERE  conversions.state = 'new'
ORDER  BY candidate.candidate_2 DESC, candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken UntilAt, 2: list ID
UPDATE /* conversionsq.Claim */ conversions FORCE INDEX (PRIMARY)
SET    state = 'busy',
       until_at = ?
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* conversionsq.Complete */
       id
FROM   conversions FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* conversionsq.Complete */ conversions FORCE INDEX (PRIMARY)
SET    state = 'over',
       until_at = NULL
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* conversionsq.Fail */
       id
FROM   conversions FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* conversionsq.Fail */ conversions FORCE INDEX (PRIMARY)
SET    state = 'dead',
       until_at = NULL
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* conversionsq.Requeue */
       id
FROM   conversions FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* conversionsq.Requeue */ conversions FORCE INDEX (PRIMARY)
SET    state = 'new',
       until_at = NULL
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* conversionsq.Extend */
       id
FROM   conversions FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* conversionsq.Extend */ conversions FORCE INDEX (PRIMARY)
SET    until_at = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND until_at = ?))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* conversionsq.Extend */
       id, CAST(until_at AS CHAR)
FROM   conversions FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (state, weight DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* conversionsq.Recover */ (
           SELECT id
           FROM   conversions
           WHERE  state = 'busy'
           AND    until_at <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN conversions ON conversions.id = picked.id
SET    state = 'new',
       until_at = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* conversionsq.Redrive */ (
           SELECT id
           FROM   conversions
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN conversions ON conversions.id = picked.id
SET    state = 'new',
       until_at = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* conversionsq.Purge */ conversions
FROM   (
           SELECT id
           FROM   conversions
           WHERE  state = 'over'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN conversions ON conversions.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* conversionsq.Purge */ conversions
FROM   (
           SELECT id
           FROM   conversions
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN conversions ON conversions.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Weight
INSERT /* conversionsq.Enqueue */ INTO conversions
       (weight)
VALUES (coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Weight
INSERT /* conversionsq.EnqueueMany */ INTO conversions
       (weight)
VALUES (coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* conversionsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* conversionsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND until_at <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   conversions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, weight DESC, id)
SELECT /* conversionsq.Backlog */
       count(*) AS ready
FROM   conversions
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* conversionsq.Peek */
       id, weight
FROM   conversions
WHERE  state = 'new'
ORDER  BY weight DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* conversionsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* conversionsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'until_at', 'datetime' UNION ALL
           SELECT 'weight', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'conversions'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_gate.sql
-- verify: gate
-- locks: none
SELECT /* conversionsq.Verify */
       'table settings has no row with id = 1, so that nothing is claimed'
FROM   DUAL
WHERE  NOT EXISTS (SELECT 1 FROM settings WHERE id = 1);

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* conversionsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'conversions'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* conversionsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'conversions_ready' AS name, 'state, weight desc, id' AS columns, 'state, weight desc' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'conversions'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order from MariaDB 10.8 on; before that no index keeps a falling order, and they are sorted; it also serves Recover: rows that somebody has, which are few; it also serves Claim: counts the running rows
ALTER TABLE conversions ADD INDEX conversions_ready (state, weight DESC, id), ALGORITHM=INPLACE, LOCK=NONE;
