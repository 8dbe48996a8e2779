-- Package eventsq uses the table events as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table events_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        MySQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: column "wedge_reason" gets the error of a job that fails for good alone, since a row with one is not ready
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running, by a row of events_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker, 3: limit, 4: token Token, 5: token Token, 6: worker Worker, 7: token Token, 8: token Token
INSERT /* eventsq.Claim */ INTO events_lease
       (id, token, worker, claimed_until, attempts)
SELECT picked.id, ?, ?, UTC_TIMESTAMP(6) + INTERVAL 120 SECOND, 1
FROM   (
           SELECT id
           FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  wedge_reason IS NULL
           AND    (SELECT COUNT(*) FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= UTC_TIMESTAMP(6) AND events_lease.attempts < 5)) = 0
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
ON     DUPLICATE KEY UPDATE
       token = CASE WHEN events_lease.failed_at IS NULL AND events_lease.claimed_until <= UTC_TIMESTAMP(6) AND events_lease.attempts < 5 THEN ? ELSE events_lease.token END,
       worker = CASE WHEN events_lease.token = ? THEN ? ELSE events_lease.worker END,
       claimed_until = CASE WHEN events_lease.token = ? THEN UTC_TIMESTAMP(6) + INTERVAL 120 SECOND ELSE events_lease.claimed_until END,
       attempts = CASE WHEN events_lease.token = ? THEN events_lease.attempts + 1 ELSE events_lease.attempts END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of events_lease, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* eventsq.Claim */
       events.id, events.content, events_lease.token,
       CAST(events_lease.claimed_until AS CHAR), events_lease.attempts, events_lease.error
FROM   events_lease, events
WHERE  events_lease.token = ?
AND    events_lease.id = events.id
AND    events.wedge_reason IS NULL;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; content <=> content always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* eventsq.Complete */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    content <=> content
FOR    UPDATE;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* eventsq.Complete */
       id
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* eventsq.Complete */ events_lease
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0);

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* eventsq.Complete */ events
FROM   events FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    wedge_reason IS NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* eventsq.Fail */
       id
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0)
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list ID Token
UPDATE /* eventsq.Fail */ events_lease FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       error = ?
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0);

-- sql/fail_before.sql
-- fail: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; content <=> content always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* eventsq.Fail */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    content <=> content
FOR    UPDATE;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* eventsq.Fail */
       id
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0)
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* eventsq.Fail */ events_lease
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0);

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID
UPDATE /* eventsq.Fail */ events FORCE INDEX (PRIMARY)
SET    wedge_reason = ?
WHERE  (id IN (?))
AND    wedge_reason IS NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* eventsq.Requeue */
       id
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0)
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Token
UPDATE /* eventsq.Requeue */ events_lease FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       attempts = attempts - 1
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0);

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* eventsq.Extend */
       id
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0)
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* eventsq.Extend */ events_lease FORCE INDEX (PRIMARY)
SET    claimed_until = UTC_TIMESTAMP(6) + INTERVAL 120 SECOND
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0);

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* eventsq.Extend */
       id, CAST(claimed_until AS CHAR)
FROM   events_lease FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: events_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ (
           SELECT id
           FROM   events_lease
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 5
           AND    ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) > 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN events_lease ON events_lease.id = picked.id
SET    token = NULL,
       worker = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (wedge_reason, id); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ (
           SELECT id
           FROM   events
           WHERE  wedge_reason IS NULL
           AND    ((SELECT COUNT(*) FROM events_lease WHERE events_lease.id = events.id AND events_lease.claimed_until <= UTC_TIMESTAMP(6) AND events_lease.attempts >= 5) > 0)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN events ON events.id = picked.id
SET    wedge_reason = 'the claim ran out';

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: events_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* eventsq.Recover */ events_lease
FROM   (
           SELECT id
           FROM   events_lease
           WHERE  ((SELECT COUNT(*) FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL) = 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN events_lease ON events_lease.id = picked.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Redrive */ (
           SELECT id
           FROM   events
           WHERE  wedge_reason IS NOT NULL
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN events ON events.id = picked.id
SET    wedge_reason = NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* eventsq.Purge */ events
FROM   (
           SELECT id
           FROM   events
           WHERE  wedge_reason IS NOT NULL
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN events ON events.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Content
INSERT /* eventsq.Enqueue */ INTO events
       (content)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Content
INSERT /* eventsq.EnqueueMany */ INTO events
       (content)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* eventsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(CASE WHEN events.wedge_reason IS NULL AND (events_lease.id IS NULL OR events_lease.failed_at IS NULL AND events_lease.claimed_until <= UTC_TIMESTAMP(6) AND events_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN events.wedge_reason IS NULL AND events_lease.failed_at IS NULL AND events_lease.token IS NOT NULL AND events_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN events.wedge_reason IS NULL AND events_lease.token IS NULL AND events_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN events.wedge_reason IS NULL AND events_lease.failed_at IS NULL AND events_lease.token IS NOT NULL AND events_lease.claimed_until <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       count(CASE WHEN events.wedge_reason IS NOT NULL THEN 1 END) AS failed
FROM   events LEFT JOIN events_lease ON events_lease.id = events.id;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (wedge_reason, id)
SELECT /* eventsq.Backlog */
       count(CASE WHEN (events_lease.id IS NULL OR events_lease.failed_at IS NULL AND events_lease.claimed_until <= UTC_TIMESTAMP(6) AND events_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN events_lease.token IS NULL AND events_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`
FROM   events LEFT JOIN events_lease ON events_lease.id = events.id
WHERE  events.wedge_reason IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       id, content
FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  wedge_reason IS NULL
AND    (SELECT COUNT(*) FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= UTC_TIMESTAMP(6) AND events_lease.attempts < 5)) = 0
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
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
SELECT /* eventsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'content', 'longtext' UNION ALL
           SELECT 'wedge_reason', 'varbinary'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_lease.sql
-- verify: columns of events_lease
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'token', 'char' UNION ALL
           SELECT 'worker', 'varchar' UNION ALL
           SELECT 'claimed_until', 'datetime' UNION ALL
           SELECT 'attempts', 'int' UNION ALL
           SELECT 'error', 'text' UNION ALL
           SELECT 'failed_at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events_lease'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'events'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'events_ready' AS name, 'wedge_reason, id' AS columns, 'wedge_reason' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'events'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
ALTER TABLE events ADD INDEX events_ready (wedge_reason, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
