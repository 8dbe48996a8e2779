-- Package lettersq uses the table letters as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running, by a row of letter_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark, 2: limit, 3: token Mark, 4: token Mark, 5: token Mark
INSERT /* lettersq.Claim */ INTO letter_claims
       (letter_id, mark, since, ends_at)
SELECT picked.id, ?, NOW(0), UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
FROM   (
           SELECT id
           FROM   letters FORCE INDEX (`PRIMARY`)
           WHERE  (SELECT COUNT(*) FROM letter_claims WHERE letter_claims.letter_id = letters.id AND NOT (letter_claims.ends_at <= UTC_TIMESTAMP(6))) = 0
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
ON     DUPLICATE KEY UPDATE
       mark = CASE WHEN letter_claims.ends_at <= UTC_TIMESTAMP(6) THEN ? ELSE letter_claims.mark END,
       since = CASE WHEN letter_claims.mark = ? THEN NOW(0) ELSE letter_claims.since END,
       ends_at = CASE WHEN letter_claims.mark = ? THEN UTC_TIMESTAMP(6) + INTERVAL 300 SECOND ELSE letter_claims.ends_at END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of letter_claims, and the key
-- isolation: read committed
-- arguments: 1: token Mark
SELECT /* lettersq.Claim */
       letters.id, letters.body, letter_claims.mark, CAST(letter_claims.ends_at AS CHAR),
       letter_claims.problem
FROM   letter_claims, letters
WHERE  letter_claims.mark = ?
AND    letter_claims.letter_id = letters.id;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Complete */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    body <=> body
FOR    UPDATE;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; mark <=> mark always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* lettersq.Complete */
       letter_id
FROM   letter_claims FORCE INDEX (PRIMARY)
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0)
AND    mark <=> mark
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; mark <=> mark always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* lettersq.Complete */ letter_claims
FROM   letter_claims FORCE INDEX (PRIMARY)
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0)
AND    mark <=> mark;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* lettersq.Complete */ letters
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    body <=> body;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; mark <=> mark always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* lettersq.Fail */
       letter_id
FROM   letter_claims FORCE INDEX (PRIMARY)
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0)
AND    mark <=> mark
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list ID Mark
UPDATE /* lettersq.Fail */ letter_claims FORCE INDEX (PRIMARY)
SET    mark = NULL,
       ends_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       problem = ?,
       since = since
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0);

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; mark <=> mark always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* lettersq.Requeue */
       letter_id
FROM   letter_claims FORCE INDEX (PRIMARY)
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0)
AND    mark <=> mark
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Mark
UPDATE /* lettersq.Requeue */ letter_claims FORCE INDEX (PRIMARY)
SET    mark = NULL,
       ends_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       since = since
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0);

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; mark <=> mark always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* lettersq.Extend */
       letter_id
FROM   letter_claims FORCE INDEX (PRIMARY)
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0)
AND    mark <=> mark
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
UPDATE /* lettersq.Extend */ letter_claims FORCE INDEX (PRIMARY)
SET    ends_at = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       since = since
WHERE  ((letter_id, mark) IN ((?, ?)))
AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0);

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Extend */
       letter_id, CAST(ends_at AS CHAR)
FROM   letter_claims FORCE INDEX (PRIMARY)
WHERE  (letter_id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ends_at) would find them
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ (
           SELECT letter_id
           FROM   letter_claims
           WHERE  mark IS NOT NULL
           AND    ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) > 0)
           AND    ends_at <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letter_claims ON letter_claims.letter_id = picked.letter_id
SET    mark = NULL,
       since = letter_claims.since;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ends_at) would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Recover */ letter_claims
FROM   (
           SELECT letter_id
           FROM   letter_claims
           WHERE  ((SELECT COUNT(*) FROM letters WHERE letter_claims.letter_id = letters.id) = 0)
           AND    ends_at <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letter_claims ON letter_claims.letter_id = picked.letter_id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* lettersq.Enqueue */ INTO letters
       (body)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body
INSERT /* lettersq.EnqueueMany */ INTO letters
       (body)
VALUES (?);

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
       count(CASE WHEN (letter_claims.letter_id IS NULL OR letter_claims.ends_at <= UTC_TIMESTAMP(6)) THEN 1 END) AS ready,
       count(CASE WHEN letter_claims.mark IS NOT NULL AND letter_claims.ends_at > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN letter_claims.mark IS NULL AND letter_claims.ends_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN letter_claims.mark IS NOT NULL AND letter_claims.ends_at <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   letters LEFT JOIN letter_claims ON letter_claims.letter_id = letters.id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       id, body
FROM   letters FORCE INDEX (`PRIMARY`)
WHERE  (SELECT COUNT(*) FROM letter_claims WHERE letter_claims.letter_id = letters.id AND NOT (letter_claims.ends_at <= UTC_TIMESTAMP(6))) = 0
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
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
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'letters'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_lease.sql
-- verify: columns of letter_claims
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'letter_id' AS name, 'int' AS type UNION ALL
           SELECT 'mark', 'char' UNION ALL
           SELECT 'since', 'timestamp' UNION ALL
           SELECT 'ends_at', 'datetime' UNION ALL
           SELECT 'problem', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'letter_claims'
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
                      AND    table_name = 'letters'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
