-- Package mailsq uses the table mails as a queue of jobs on MySQL 5.7 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 5.7 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  MySQL 5.7 cannot pass over locked rows
--   advisory     MySQL has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          a taken row is gone, so it must be asked for
-- note: times of column "seen" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: times of column "made" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: whether the database writes column "made" at every change of a row is a setting of the server (explicit_defaults_for_timestamp); a step that does not write it sets it to what it is
-- note: the fence is the status, and two claims of one worker look alike: with qgen:claimed at column "seen" beside heartbeat the time there is the fence, which Extend writes as before
-- note: warning: a running row whose seen is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (holder, made, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Claim */
       id
FROM   mails
WHERE  holder IS NULL
ORDER  BY made, id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Claim */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    holder IS NULL
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Holder, 2: list ID
UPDATE /* mailsq.Claim */ mails FORCE INDEX (PRIMARY)
SET    holder = ?,
       seen = NOW(0),
       made = made
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Claim */
       id, CAST(UNIX_TIMESTAMP(made) * 1000000 AS SIGNED), holder
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* mailsq.Complete */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
DELETE /* mailsq.Complete */ mails
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* mailsq.Fail */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
UPDATE /* mailsq.Fail */ mails FORCE INDEX (PRIMARY)
SET    holder = NULL,
       made = made
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* mailsq.Requeue */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
UPDATE /* mailsq.Requeue */ mails FORCE INDEX (PRIMARY)
SET    holder = NULL,
       made = made
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* mailsq.Extend */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
UPDATE /* mailsq.Extend */ mails FORCE INDEX (PRIMARY)
SET    seen = NOW(0),
       made = made
WHERE  ((id = ? AND holder = ?))
AND    holder IS NOT NULL;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (holder, made, id), which finds the rows that somebody has by holder
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ (
           SELECT id
           FROM   mails
           WHERE  holder IS NOT NULL
           AND    seen <= LEAST(NOW(6) - INTERVAL 60 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL 60 SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id
SET    holder = NULL,
       made = mails.made;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* mailsq.Enqueue */ INTO mails
       (made)
VALUES (NOW(0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN holder IS NULL THEN 1 END) AS ready,
       count(CASE WHEN holder IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN holder IS NOT NULL AND seen <= LEAST(NOW(6) - INTERVAL 60 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL 60 SECOND, '+00:00', @@time_zone)) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN holder IS NULL THEN made END), NOW(6)) / 1000000 AS oldest_ready
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (holder, made, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, CAST(UNIX_TIMESTAMP(made) * 1000000 AS SIGNED)
FROM   mails
WHERE  holder IS NULL
ORDER  BY made, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 5.7')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 50700;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'made', 'timestamp' UNION ALL
           SELECT 'holder', 'varchar' UNION ALL
           SELECT 'seen', 'timestamp'
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
           SELECT 'mails_ready' AS name, 'holder, made, id' AS columns, 'holder, made' AS least
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

-- serves Claim: ready rows in queue order, so that nothing is sorted; it also serves Recover: rows that somebody has, which are few
ALTER TABLE mails ADD INDEX mails_ready (holder, made, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
