-- Package textsq uses the table texts as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "run_at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "tries" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* textsq.Claim */
       id
FROM   texts FORCE INDEX (`PRIMARY`)
WHERE  run_at <= DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* textsq.Claim */
       id
FROM   texts FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    run_at <= DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* textsq.Claim */ texts FORCE INDEX (PRIMARY)
SET    run_at = DATE_FORMAT(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '%Y-%m-%dT%H:%i:%s.%fZ'),
       tries = tries + 1
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* textsq.Claim */
       id, run_at, tries
FROM   texts FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* textsq.Complete */
       id
FROM   texts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
DELETE /* textsq.Complete */ FROM texts
WHERE  ((id = ? AND tries = ?));

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* textsq.Fail */
       id
FROM   texts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* textsq.Fail */ texts FORCE INDEX (PRIMARY)
SET    run_at = DATE_FORMAT(UTC_TIMESTAMP(6) + INTERVAL (10 * tries) SECOND, '%Y-%m-%dT%H:%i:%s.%fZ')
WHERE  ((id = ? AND tries = ?));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* textsq.Requeue */
       id
FROM   texts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Tries
UPDATE /* textsq.Requeue */ texts FORCE INDEX (PRIMARY)
SET    run_at = DATE_FORMAT(UTC_TIMESTAMP(6) + INTERVAL ? SECOND, '%Y-%m-%dT%H:%i:%s.%fZ'),
       tries = tries - 1
WHERE  ((id = ? AND tries = ?));

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; run_at <=> run_at always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* textsq.Extend */
       id
FROM   texts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    run_at <=> run_at
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* textsq.Extend */ texts FORCE INDEX (PRIMARY)
SET    run_at = DATE_FORMAT(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '%Y-%m-%dT%H:%i:%s.%fZ')
WHERE  ((id = ? AND tries = ?));

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* textsq.Extend */
       id, run_at
FROM   texts FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* textsq.Enqueue */ INTO texts
       (run_at)
VALUES (coalesce(?, DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* textsq.Stats */
       count(CASE WHEN run_at <= DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ') THEN 1 END) AS ready,
       count(CASE WHEN run_at > DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ') THEN 1 END) AS running,
       count(CASE WHEN run_at > DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ') THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, STR_TO_DATE(min(CASE WHEN run_at <= DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ') THEN run_at END), '%Y-%m-%dT%H:%i:%s.%fZ'), STR_TO_DATE(DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'), '%Y-%m-%dT%H:%i:%s.%fZ')) / 1000000 AS oldest_ready
FROM   texts;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* textsq.Peek */
       id, run_at, tries
FROM   texts FORCE INDEX (`PRIMARY`)
WHERE  run_at <= DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* textsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* textsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'run_at', 'varchar' UNION ALL
           SELECT 'tries', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'texts'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* textsq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* textsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'texts'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PRIMARY serves already
