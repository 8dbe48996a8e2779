-- Package partsq uses the table parts as a queue of jobs on MySQL 8.4 and later.
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
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table part_claims, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parts_ready.
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
-- note: no order is said: rows are taken in the order of the key, region, seq

-- sql/claim.sql
-- claim: ready to running, by a row of part_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker, 3: limit, 4: token Token, 5: token Token, 6: worker Worker, 7: token Token, 8: token Token
INSERT /* partsq.Claim */ INTO part_claims
       (region, seq, token, worker, claimed_until, attempts)
SELECT picked.region, picked.seq, ?, ?, UTC_TIMESTAMP(6) + INTERVAL 600 SECOND, 1
FROM   (
           SELECT region, seq
           FROM   parts IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  state = 'N'
           AND    (SELECT COUNT(*) FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= UTC_TIMESTAMP(6) AND part_claims.attempts < 3)) = 0
           ORDER  BY region, seq
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
ON     DUPLICATE KEY UPDATE
       token = CASE WHEN part_claims.failed_at IS NULL AND part_claims.claimed_until <= UTC_TIMESTAMP(6) AND part_claims.attempts < 3 THEN ? ELSE part_claims.token END,
       worker = CASE WHEN part_claims.token = ? THEN ? ELSE part_claims.worker END,
       claimed_until = CASE WHEN part_claims.token = ? THEN UTC_TIMESTAMP(6) + INTERVAL 600 SECOND ELSE part_claims.claimed_until END,
       attempts = CASE WHEN part_claims.token = ? THEN part_claims.attempts + 1 ELSE part_claims.attempts END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of part_claims, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* partsq.Claim */
       parts.region, parts.seq, part_claims.token, CAST(part_claims.claimed_until AS CHAR),
       part_claims.attempts, part_claims.error
FROM   part_claims, parts
WHERE  part_claims.token = ?
AND    part_claims.region = parts.region
AND    part_claims.seq = parts.seq
AND    parts.state = 'N';

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; state <=> state always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq
SELECT /* partsq.Complete */
       region, seq
FROM   parts FORCE INDEX (PRIMARY)
WHERE  ((region, seq) IN ((?, ?)))
AND    state <=> state
FOR    UPDATE;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
SELECT /* partsq.Complete */
       region, seq
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
DELETE /* partsq.Complete */ part_claims
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0);

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq
UPDATE /* partsq.Complete */ parts FORCE INDEX (PRIMARY)
SET    state = 'C'
WHERE  ((region, seq) IN ((?, ?)))
AND    state = 'N';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
SELECT /* partsq.Fail */
       region, seq
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0)
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list Region Seq Token
UPDATE /* partsq.Fail */ part_claims FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       error = ?
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0);

-- sql/fail_before.sql
-- fail: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; state <=> state always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Region Seq
SELECT /* partsq.Fail */
       region, seq
FROM   parts FORCE INDEX (PRIMARY)
WHERE  ((region, seq) IN ((?, ?)))
AND    state <=> state
FOR    UPDATE;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
SELECT /* partsq.Fail */
       region, seq
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0)
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
DELETE /* partsq.Fail */ part_claims
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0);

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq
UPDATE /* partsq.Fail */ parts FORCE INDEX (PRIMARY)
SET    state = 'E'
WHERE  ((region, seq) IN ((?, ?)))
AND    state = 'N';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
SELECT /* partsq.Requeue */
       region, seq
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0)
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list Region Seq Token
UPDATE /* partsq.Requeue */ part_claims FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       attempts = attempts - 1
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0);

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
SELECT /* partsq.Extend */
       region, seq
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0)
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq Token
UPDATE /* partsq.Extend */ part_claims FORCE INDEX (PRIMARY)
SET    claimed_until = UTC_TIMESTAMP(6) + INTERVAL 600 SECOND
WHERE  ((region, seq, token) IN ((?, ?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0);

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Region Seq
SELECT /* partsq.Extend */
       region, seq, CAST(claimed_until AS CHAR)
FROM   part_claims FORCE INDEX (PRIMARY)
WHERE  ((region, seq) IN ((?, ?)));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: part_claims_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* partsq.Recover */ (
           SELECT region, seq
           FROM   part_claims
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 3
           AND    ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') > 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN part_claims ON part_claims.region = picked.region
                               AND    part_claims.seq = picked.seq
SET    token = NULL,
       worker = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* partsq.Recover */ (
           SELECT region, seq
           FROM   parts
           WHERE  state = 'N'
           AND    ((SELECT COUNT(*) FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND part_claims.claimed_until <= UTC_TIMESTAMP(6) AND part_claims.attempts >= 3) > 0)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN parts ON parts.region = picked.region
                               AND    parts.seq = picked.seq
SET    state = 'E';

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: part_claims_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* partsq.Recover */ part_claims
FROM   (
           SELECT region, seq
           FROM   part_claims
           WHERE  ((SELECT COUNT(*) FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N') = 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN part_claims ON part_claims.region = picked.region
                               AND    part_claims.seq = picked.seq;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* partsq.Redrive */ (
           SELECT region, seq
           FROM   parts
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN parts ON parts.region = picked.region
                               AND    parts.seq = picked.seq
SET    state = 'N';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* partsq.Purge */ parts
FROM   (
           SELECT region, seq
           FROM   parts
           WHERE  state = 'C'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN parts ON parts.region = picked.region
                               AND    parts.seq = picked.seq;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* partsq.Purge */ parts
FROM   (
           SELECT region, seq
           FROM   parts
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN parts ON parts.region = picked.region
                               AND    parts.seq = picked.seq;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Region, 2: new Seq
INSERT /* partsq.Enqueue */ INTO parts
       (region, seq, state)
VALUES (?, ?, 'N');

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Region Seq
INSERT /* partsq.EnqueueMany */ INTO parts
       (region, seq, state)
VALUES (?, ?, 'N');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(CASE WHEN parts.state = 'N' AND (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= UTC_TIMESTAMP(6) AND part_claims.attempts < 3) THEN 1 END) AS ready,
       count(CASE WHEN parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN parts.state = 'N' AND part_claims.token IS NULL AND part_claims.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       count(CASE WHEN parts.state = 'C' THEN 1 END) AS done,
       count(CASE WHEN parts.state = 'E' THEN 1 END) AS failed
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, region, seq)
SELECT /* partsq.Backlog */
       count(CASE WHEN (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= UTC_TIMESTAMP(6) AND part_claims.attempts < 3) THEN 1 END) AS ready,
       count(CASE WHEN part_claims.token IS NULL AND part_claims.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq
WHERE  parts.state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* partsq.Peek */
       region, seq
FROM   parts IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
AND    (SELECT COUNT(*) FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= UTC_TIMESTAMP(6) AND part_claims.attempts < 3)) = 0
ORDER  BY region, seq
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
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
SELECT /* partsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'region' AS name, 'varchar' AS type UNION ALL
           SELECT 'seq', 'int' UNION ALL
           SELECT 'state', 'char'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'parts'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_lease.sql
-- verify: columns of part_claims
-- locks: none
SELECT /* partsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'region' AS name, 'varchar' AS type UNION ALL
           SELECT 'seq', 'int' UNION ALL
           SELECT 'token', 'char' UNION ALL
           SELECT 'worker', 'varchar' UNION ALL
           SELECT 'claimed_until', 'datetime' UNION ALL
           SELECT 'attempts', 'int' UNION ALL
           SELECT 'error', 'text' UNION ALL
           SELECT 'failed_at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'part_claims'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* partsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'parts'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* partsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'parts_ready' AS name, 'state, region, seq' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'parts'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE parts ADD INDEX parts_ready (state, region, seq), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
