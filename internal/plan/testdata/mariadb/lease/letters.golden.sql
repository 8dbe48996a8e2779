-- Package lettersq uses the table letters as a queue of jobs on MariaDB 10.6 and later.
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
-- Claims are rows of the table letters_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running, by a row of letters_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (kind, id)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker, 3: param kind string, 4: limit, 5: token Token, 6: token Token, 7: worker Worker, 8: token Token, 9: token Token
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
INSERT /* lettersq.Claim */ INTO letters_lease
       (id, token, worker, claimed_until, attempts)
SELECT picked.id, ?, ?, UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, 1
FROM   (
           SELECT id
           FROM   letters IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  kind = ?
           AND    (SELECT COUNT(*) FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) AND letters_lease.attempts < 5)) = 0
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
ON     DUPLICATE KEY UPDATE
       token = CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) AND letters_lease.attempts < 5 THEN ? ELSE letters_lease.token END,
       worker = CASE WHEN letters_lease.token = ? THEN ? ELSE letters_lease.worker END,
       claimed_until = CASE WHEN letters_lease.token = ? THEN UTC_TIMESTAMP(6) + INTERVAL 300 SECOND ELSE letters_lease.claimed_until END,
       attempts = CASE WHEN letters_lease.token = ? THEN letters_lease.attempts + 1 ELSE letters_lease.attempts END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of letters_lease, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* lettersq.Claim */
       letters.id, letters.kind, letters.priority, letters.body, letters_lease.token,
       CAST(letters_lease.claimed_until AS CHAR), letters_lease.attempts,
       letters_lease.error
FROM   letters_lease, letters
WHERE  letters_lease.token = ?
AND    letters_lease.id = letters.id;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; kind <=> kind always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Complete */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    kind <=> kind
FOR    UPDATE;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* lettersq.Complete */
       id
FROM   letters_lease FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* lettersq.Complete */ letters_lease
FROM   letters_lease FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0);

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key; kind <=> kind always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* lettersq.Complete */ letters
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    kind <=> kind;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* lettersq.Fail */
       id
FROM   letters_lease FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0)
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list ID Token
UPDATE /* lettersq.Fail */ letters_lease FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       error = ?
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0);

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* lettersq.Fail */
       id
FROM   letters_lease FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0)
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Token
UPDATE /* lettersq.Fail */ letters_lease FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       error = ?,
       failed_at = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0);

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* lettersq.Requeue */
       id
FROM   letters_lease FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0)
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Token
UPDATE /* lettersq.Requeue */ letters_lease FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       attempts = attempts - 1
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0);

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* lettersq.Extend */
       id
FROM   letters_lease FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0)
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* lettersq.Extend */ letters_lease FORCE INDEX (PRIMARY)
SET    claimed_until = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND token = ?))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0);

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Extend */
       id, CAST(claimed_until AS CHAR)
FROM   letters_lease FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
UPDATE /* lettersq.Recover */ (
           SELECT id
           FROM   letters_lease
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 5
           AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters_lease ON letters_lease.id = picked.id
SET    token = NULL,
       worker = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
UPDATE /* lettersq.Recover */ (
           SELECT id
           FROM   letters_lease
           WHERE  failed_at IS NULL
           AND    attempts >= 5
           AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) > 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters_lease ON letters_lease.id = picked.id
SET    token = NULL,
       worker = NULL,
       error = 'the claim ran out',
       failed_at = UTC_TIMESTAMP(6);

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
DELETE /* lettersq.Recover */ letters_lease
FROM   (
           SELECT id
           FROM   letters_lease
           WHERE  ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) = 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters_lease ON letters_lease.id = picked.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Redrive */ letters_lease
FROM   (
           SELECT id
           FROM   letters_lease
           WHERE  failed_at IS NOT NULL
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters_lease ON letters_lease.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: older, 2: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
DELETE /* lettersq.Purge */ letters
FROM   (
           SELECT id
           FROM   letters
           WHERE  (SELECT COUNT(*) FROM letters_lease WHERE letters_lease.id = letters.id AND letters_lease.failed_at IS NOT NULL AND letters_lease.failed_at <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND) > 0
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters ON letters.id = picked.id;

-- sql/purge_left.sql
-- purge_left: the claims of the rows that purge_failed.sql deleted, to gone
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until); it reads others as well
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: older, 2: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
DELETE /* lettersq.Purge */ letters_lease
FROM   (
           SELECT id
           FROM   letters_lease
           WHERE  failed_at IS NOT NULL
           AND    failed_at <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           AND    ((SELECT COUNT(*) FROM letters WHERE letters_lease.id = letters.id) = 0)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters_lease ON letters_lease.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new Body
INSERT /* lettersq.Enqueue */ INTO letters
       (kind, priority, body)
VALUES (?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Kind Priority Body
INSERT /* lettersq.EnqueueMany */ INTO letters
       (kind, priority, body)
VALUES (?, ?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* lettersq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) AND letters_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       count(CASE WHEN letters_lease.failed_at IS NOT NULL THEN 1 END) AS failed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: (kind, id)
-- arguments: 1: param kind string
SELECT /* lettersq.StatsOf */
       count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) AND letters_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       count(CASE WHEN letters_lease.failed_at IS NOT NULL THEN 1 END) AS failed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id
WHERE  letters.kind = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Backlog */
       letters.kind,
       count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) AND letters_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`
FROM   letters USE INDEX FOR GROUP BY () LEFT JOIN letters_lease ON letters_lease.id = letters.id
GROUP  BY letters.kind
HAVING count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) AND letters_lease.attempts < 5) THEN 1 END) > 0
OR     count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) > 0
ORDER  BY letters.kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* lettersq.Peek */
       id, kind, priority, body
FROM   letters IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  kind = ?
AND    (SELECT COUNT(*) FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= UTC_TIMESTAMP(6) AND letters_lease.attempts < 5)) = 0
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'letters'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_lease.sql
-- verify: columns of letters_lease
-- locks: none
SELECT /* lettersq.Verify */
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
       AND have.table_name = 'letters_lease'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'letters'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'letters_ready' AS name, 'kind, id' AS columns, 'kind' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'letters'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE letters ADD INDEX letters_ready (kind, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
