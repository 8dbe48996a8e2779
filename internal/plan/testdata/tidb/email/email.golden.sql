-- Package emailq uses the table email_outbox as a queue of jobs on TiDB 7.5 and later.
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
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits; another claimer waits for it. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    TiDB 7.5 cannot return the rows of an UPDATE
--   block        TiDB has no anonymous blocks that give rows back
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  TiDB 7.5 cannot pass over locked rows
--   advisory     TiDB has no locks on numbers
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows that are alike in column "created_at" are taken as the index email_ready has them: in the order of the key as well, TiDB would sort all ready rows for each claim
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: email_ready (state, kind, priority, created_at, msg_id)
-- isolation: read committed
-- arguments: 1: token Token, 2: param kind string, 3: limit
UPDATE /* emailq.Claim */ email_outbox
SET    state = 'A',
       lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       token = ?,
       tries = email_outbox.tries + 1
WHERE  state = 'N'
AND    (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL)
AND    kind = ?
ORDER  BY priority DESC, created_at DESC
LIMIT  ?;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: email_ready (state, kind, priority, created_at, msg_id); it reads others as well
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* emailq.Claim */
       msg_id, kind, priority, CAST(UNIX_TIMESTAMP(created_at) * 1000000 AS SIGNED),
       CAST(not_before AS CHAR), CAST(lease_till AS CHAR), token, tries, last_error, body
FROM   email_outbox
WHERE  token = ?
AND    state = 'A';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID Token
SELECT /* emailq.Complete */
       msg_id
FROM   email_outbox FORCE INDEX (PRIMARY)
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID Token
UPDATE /* emailq.Complete */ email_outbox FORCE INDEX (PRIMARY)
SET    state = 'C',
       lease_till = NULL
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID Token
SELECT /* emailq.Fail */
       msg_id
FROM   email_outbox FORCE INDEX (PRIMARY)
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list MsgID Token
UPDATE /* emailq.Fail */ email_outbox FORCE INDEX (PRIMARY)
SET    state = 'N',
       not_before = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       lease_till = NULL,
       token = NULL,
       last_error = ?
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID Token
SELECT /* emailq.Fail */
       msg_id
FROM   email_outbox FORCE INDEX (PRIMARY)
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list MsgID Token
UPDATE /* emailq.Fail */ email_outbox FORCE INDEX (PRIMARY)
SET    state = 'E',
       lease_till = NULL,
       last_error = ?
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID Token
SELECT /* emailq.Requeue */
       msg_id
FROM   email_outbox FORCE INDEX (PRIMARY)
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list MsgID Token
UPDATE /* emailq.Requeue */ email_outbox FORCE INDEX (PRIMARY)
SET    state = 'N',
       not_before = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE not_before END,
       lease_till = NULL,
       token = NULL,
       tries = tries - 1
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID Token
SELECT /* emailq.Extend */
       msg_id
FROM   email_outbox FORCE INDEX (PRIMARY)
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID Token
UPDATE /* emailq.Extend */ email_outbox FORCE INDEX (PRIMARY)
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((msg_id = ? AND token = ?))
AND    state = 'A';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list MsgID
SELECT /* emailq.Extend */
       msg_id, CAST(lease_till AS CHAR)
FROM   email_outbox FORCE INDEX (PRIMARY)
WHERE  (msg_id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: email_ready (state, kind, priority, created_at, msg_id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* emailq.Recover */ email_outbox
SET    state = 'N',
       lease_till = NULL,
       token = NULL
WHERE  state = 'A'
AND    tries < 5
AND    lease_till <= UTC_TIMESTAMP(6)
LIMIT  ?;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: email_ready (state, kind, priority, created_at, msg_id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* emailq.Recover */ email_outbox
SET    state = 'E',
       lease_till = NULL,
       last_error = 'the claim ran out'
WHERE  state = 'A'
AND    tries >= 5
AND    lease_till <= UTC_TIMESTAMP(6)
LIMIT  ?;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: email_ready (state, kind, priority, created_at, msg_id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* emailq.Redrive */ email_outbox
SET    state = 'N',
       lease_till = NULL,
       token = NULL,
       tries = 0
WHERE  state = 'E'
LIMIT  ?;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: email_ready (state, kind, priority, created_at, msg_id); it reads those that are not old enough as well, which one on (state, created_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* emailq.Purge */ FROM email_outbox
WHERE  state = 'C'
AND    created_at <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
LIMIT  ?;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: email_ready (state, kind, priority, created_at, msg_id); it reads those that are not old enough as well, which one on (state, created_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* emailq.Purge */ FROM email_outbox
WHERE  state = 'E'
AND    created_at <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
LIMIT  ?;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new NotBefore, 4: new Body
INSERT /* emailq.Enqueue */ INTO email_outbox
       (kind, priority, created_at, not_before, body)
VALUES (?, coalesce(?, 0), NOW(6), ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* emailq.Stats */
       count(CASE WHEN state = 'N' AND (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'C' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND not_before > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'A' AND lease_till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'N' AND (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN created_at END), NOW(6)) / 1000000 AS oldest_ready
FROM   email_outbox;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* emailq.StatsOf */
       count(CASE WHEN state = 'N' AND (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'C' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND not_before > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'A' AND lease_till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'N' AND (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN created_at END), NOW(6)) / 1000000 AS oldest_ready
FROM   email_outbox
WHERE  kind = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: email_ready (state, kind, priority, created_at, msg_id)
SELECT /* emailq.Backlog */
       kind,
       count(CASE WHEN (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN not_before > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN created_at END), NOW(6)) / 1000000 AS oldest_ready
FROM   email_outbox
WHERE  state = 'N'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: email_ready (state, kind, priority, created_at, msg_id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* emailq.Peek */
       msg_id, kind, priority, CAST(UNIX_TIMESTAMP(created_at) * 1000000 AS SIGNED),
       CAST(not_before AS CHAR), tries, last_error, body
FROM   email_outbox FORCE INDEX (email_ready)
WHERE  state = 'N'
AND    (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL)
AND    kind = ?
ORDER  BY priority DESC, created_at DESC
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* emailq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* emailq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'msg_id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'state', 'enum' UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'created_at', 'timestamp' UNION ALL
           SELECT 'not_before', 'datetime' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'token', 'binary' UNION ALL
           SELECT 'tries', 'int unsigned' UNION ALL
           SELECT 'last_error', 'text' UNION ALL
           SELECT 'body', 'json'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'email_outbox'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* emailq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* emailq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'email_ready' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'email_outbox'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few: email_ready serves already
