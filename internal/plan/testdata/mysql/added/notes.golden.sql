-- Package notesq uses the table notes as a queue of jobs on MySQL 8.4 and later.
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
-- Besides the queue's own rows it writes journal (Enqueue), each in the transaction of the operation.
--
-- Claims are rows of the table notes_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
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
-- claim: ready to running, by a row of notes_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker, 3: limit, 4: token Token, 5: token Token, 6: worker Worker, 7: token Token, 8: token Token
INSERT /* notesq.Claim */ INTO notes_lease
       (id, token, worker, claimed_until, attempts)
SELECT picked.id, ?, ?, UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, 1
FROM   (
           SELECT id
           FROM   notes FORCE INDEX (`PRIMARY`)
           WHERE  (SELECT COUNT(*) FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= UTC_TIMESTAMP(6))) = 0
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
ON     DUPLICATE KEY UPDATE
       token = CASE WHEN notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= UTC_TIMESTAMP(6) THEN ? ELSE notes_lease.token END,
       worker = CASE WHEN notes_lease.token = ? THEN ? ELSE notes_lease.worker END,
       claimed_until = CASE WHEN notes_lease.token = ? THEN UTC_TIMESTAMP(6) + INTERVAL 300 SECOND ELSE notes_lease.claimed_until END,
       attempts = CASE WHEN notes_lease.token = ? THEN notes_lease.attempts + 1 ELSE notes_lease.attempts END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of notes_lease, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* notesq.Claim */
       notes.id, notes.address, notes_lease.token, CAST(notes_lease.claimed_until AS CHAR),
       notes_lease.attempts, notes_lease.error
FROM   notes_lease, notes
WHERE  notes_lease.token = ?
AND    notes_lease.id = notes.id;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; address <=> address always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* notesq.Complete */
       id
FROM   notes FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    address <=> address
FOR    UPDATE;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* notesq.Complete */
       id
FROM   notes_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* notesq.Complete */ notes_lease
FROM   notes_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0);

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key; address <=> address always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* notesq.Complete */ notes
FROM   notes FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    address <=> address;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* notesq.Fail */
       id
FROM   notes_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0)
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list ID Token
UPDATE /* notesq.Fail */ notes_lease FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       error = ?
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0);

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* notesq.Requeue */
       id
FROM   notes_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0)
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Token
UPDATE /* notesq.Requeue */ notes_lease FORCE INDEX (PRIMARY)
SET    token = NULL,
       worker = NULL,
       claimed_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       attempts = attempts - 1
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0);

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* notesq.Extend */
       id
FROM   notes_lease FORCE INDEX (PRIMARY)
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0)
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* notesq.Extend */ notes_lease FORCE INDEX (PRIMARY)
SET    claimed_until = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id, token) IN ((?, ?)))
AND    failed_at IS NULL
AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0);

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* notesq.Extend */
       id, CAST(claimed_until AS CHAR)
FROM   notes_lease FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: notes_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* notesq.Recover */ (
           SELECT id
           FROM   notes_lease
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) > 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN notes_lease ON notes_lease.id = picked.id
SET    token = NULL,
       worker = NULL;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: notes_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* notesq.Recover */ notes_lease
FROM   (
           SELECT id
           FROM   notes_lease
           WHERE  ((SELECT COUNT(*) FROM notes WHERE notes_lease.id = notes.id) = 0)
           AND    claimed_until <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN notes_lease ON notes_lease.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
INSERT /* notesq.Enqueue */ INTO notes
       (address)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Address
INSERT /* notesq.EnqueueMany */ INTO notes
       (address)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* notesq.EnqueueMany */
       @@auto_increment_increment;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* notesq.Enqueue */ INTO journal
       (what, id, address)
SELECT 'note', held.id, held.address
FROM   notes AS held FORCE INDEX (PRIMARY)
WHERE  (held.id IN (?));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Stats */
       count(CASE WHEN (notes_lease.id IS NULL OR notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= UTC_TIMESTAMP(6)) THEN 1 END) AS ready,
       count(CASE WHEN notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN notes_lease.token IS NULL AND notes_lease.claimed_until > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   notes LEFT JOIN notes_lease ON notes_lease.id = notes.id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* notesq.Peek */
       id, address
FROM   notes FORCE INDEX (`PRIMARY`)
WHERE  (SELECT COUNT(*) FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= UTC_TIMESTAMP(6))) = 0
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notesq.Verify */
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
SELECT /* notesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'address', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'notes'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* notesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'what' AS name, 'varchar' AS type UNION ALL
           SELECT 'id', 'bigint' UNION ALL
           SELECT 'address', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'journal'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_lease.sql
-- verify: columns of notes_lease
-- locks: none
SELECT /* notesq.Verify */
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
       AND have.table_name = 'notes_lease'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* notesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'notes'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* notesq.Verify */
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
                      AND    table_name = 'notes'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
