-- Package begunq uses the table begun as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates begun_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        no column can hold the key of a batch, by which a block reads it back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, start, id)
-- isolation: read committed
-- arguments: 1: worker Holder, 2: limit
SELECT /* begunq.Claim */
       id, CAST(UTC_TIMESTAMP(6) AS CHAR), ?
FROM   begun IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
AND    start IS NULL
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to claimed, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Since, 2: worker Holder, 3: list ID
UPDATE /* begunq.Claim */ begun FORCE INDEX (PRIMARY)
SET    state = 1,
       start = NULL,
       since = ?,
       holder = ?
WHERE  (id = ?);

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
SELECT /* begunq.Start */
       id
FROM   begun FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    start IS NULL
AND    state = 1
FOR    UPDATE;

-- sql/start.sql
-- start: claimed to running
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
UPDATE /* begunq.Start */ begun FORCE INDEX (PRIMARY)
SET    start = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    start IS NULL
AND    state = 1;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
SELECT /* begunq.Complete */
       id
FROM   begun FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1
FOR    UPDATE;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
UPDATE /* begunq.Complete */ begun FORCE INDEX (PRIMARY)
SET    state = 2
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
SELECT /* begunq.Fail */
       id
FROM   begun FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1
FOR    UPDATE;

-- sql/retry.sql
-- retry: claimed or running to ready
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
UPDATE /* begunq.Fail */ begun FORCE INDEX (PRIMARY)
SET    state = 0,
       start = NULL,
       since = NULL,
       holder = NULL
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
SELECT /* begunq.Requeue */
       id
FROM   begun FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
UPDATE /* begunq.Requeue */ begun FORCE INDEX (PRIMARY)
SET    state = 0,
       start = NULL,
       since = NULL,
       holder = NULL
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
SELECT /* begunq.Extend */
       id
FROM   begun FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1
FOR    UPDATE;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Holder
UPDATE /* begunq.Extend */ begun FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND since = ? AND holder = ?))
AND    state = 1;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* begunq.Extend */
       id, CAST(since AS CHAR)
FROM   begun FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, start, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* begunq.Recover */ (
           SELECT id
           FROM   begun
           WHERE  state = 1
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN begun ON begun.id = picked.id
SET    state = 0,
       start = NULL,
       since = NULL,
       holder = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, start, id); it reads those that are not old enough as well, which one on (state, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* begunq.Purge */ begun
FROM   (
           SELECT id
           FROM   begun
           WHERE  state = 2
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN begun ON begun.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* begunq.Enqueue */ INTO begun
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* begunq.Stats */
       count(CASE WHEN state = 0 AND start IS NULL THEN 1 END) AS ready,
       count(CASE WHEN start IS NULL AND state = 1 THEN 1 END) AS claimed,
       count(CASE WHEN start IS NOT NULL AND state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = 1 AND since <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 1 THEN since END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   begun;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, start, id)
SELECT /* begunq.Backlog */
       count(*) AS ready
FROM   begun
WHERE  state = 0
AND    start IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, start, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* begunq.Peek */
       id
FROM   begun IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
AND    start IS NULL
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* begunq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* begunq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'int' UNION ALL
           SELECT 'start', 'datetime' UNION ALL
           SELECT 'since', 'datetime' UNION ALL
           SELECT 'holder', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'begun'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* begunq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'begun'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* begunq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'begun_ready' AS name, 'state, start, id' AS columns, 'state, start' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'begun'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE begun ADD INDEX begun_ready (state, start, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
