-- Package everyq uses the table every as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- A job never ends: Complete makes it ready again, due after the time that the row has in every. Who wants one to end deletes its row.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates every_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    TiDB 7.5 cannot return the rows of an UPDATE
--   block        TiDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  TiDB 7.5 cannot pass over locked rows
--   advisory     TiDB has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* everyq.Claim */
       id
FROM   every IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    tries > 0
AND    (run_at <= UTC_TIMESTAMP(6) OR run_at IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* everyq.Claim */
       id
FROM   every FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'N'
AND    tries > 0
AND    (run_at <= UTC_TIMESTAMP(6) OR run_at IS NULL)
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* everyq.Claim */ every FORCE INDEX (PRIMARY)
SET    state = 'A',
       till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* everyq.Claim */
       id, CAST(run_at AS CHAR), CAST(till AS CHAR), tries, every
FROM   every FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* everyq.Complete */
       id
FROM   every FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* everyq.Complete */ every FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = UTC_TIMESTAMP(6) + INTERVAL every * 60 SECOND,
       till = NULL,
       tries = 3,
       ran_at = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND till = ?))
AND    state = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* everyq.Fail */
       id
FROM   every FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Till
UPDATE /* everyq.Fail */ every FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       till = NULL,
       tries = tries - 1
WHERE  ((id = ? AND till = ?))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* everyq.Fail */
       id
FROM   every FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* everyq.Fail */ every FORCE INDEX (PRIMARY)
SET    state = 'N',
       till = NULL,
       tries = 0
WHERE  ((id = ? AND till = ?))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* everyq.Requeue */
       id
FROM   every FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Till
UPDATE /* everyq.Requeue */ every FORCE INDEX (PRIMARY)
SET    state = 'N',
       run_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE run_at END,
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* everyq.Extend */
       id
FROM   every FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* everyq.Extend */ every FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND till = ?))
AND    state = 'A';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* everyq.Extend */
       id, CAST(till AS CHAR)
FROM   every FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* everyq.Recover */ every
SET    state = 'N',
       till = NULL,
       tries = every.tries - 1
WHERE  state = 'A'
AND    tries > 1
AND    till <= UTC_TIMESTAMP(6)
LIMIT  ?;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* everyq.Recover */ every
SET    state = 'N',
       till = NULL,
       tries = 0
WHERE  state = 'A'
AND    tries <= 1
AND    till <= UTC_TIMESTAMP(6)
LIMIT  ?;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* everyq.Redrive */ every
SET    till = NULL,
       tries = 3
WHERE  state = 'N'
AND    tries <= 0
LIMIT  ?;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new Every
INSERT /* everyq.Enqueue */ INTO every
       (run_at, every)
VALUES (?, coalesce(?, 60));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* everyq.Stats */
       count(CASE WHEN state = 'N' AND tries > 0 AND (run_at <= UTC_TIMESTAMP(6) OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'N' AND tries <= 0 THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND tries > 0 AND run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'A' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'N' AND tries > 0 AND (run_at <= UTC_TIMESTAMP(6) OR run_at IS NULL) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   every;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id); it reads others as well
SELECT /* everyq.Backlog */
       count(CASE WHEN (run_at <= UTC_TIMESTAMP(6) OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (run_at <= UTC_TIMESTAMP(6) OR run_at IS NULL) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   every
WHERE  state = 'N'
AND    tries > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* everyq.Peek */
       id, CAST(run_at AS CHAR), tries, every
FROM   every IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    tries > 0
AND    (run_at <= UTC_TIMESTAMP(6) OR run_at IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* everyq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* everyq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'run_at', 'datetime' UNION ALL
           SELECT 'till', 'datetime' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'every', 'int' UNION ALL
           SELECT 'ran_at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'every'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* everyq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* everyq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'every_ready' AS name, 'state, id' AS columns, 'state, id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'every'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
CREATE INDEX every_ready ON every (state, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
