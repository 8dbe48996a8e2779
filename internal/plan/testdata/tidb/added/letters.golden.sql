-- Package lettersq uses the table letters as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes pages (Enqueue, Purge); totals (Enqueue); letters (Enqueue); journal (Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lettersq.Claim */
       id
FROM   letters IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Claim */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'new'
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lettersq.Claim */ letters FORCE INDEX (PRIMARY)
SET    state = 'busy',
       lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Claim */
       id, CAST(lease_till AS CHAR), address, cause
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: lease_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID LeaseTill
SELECT /* lettersq.Complete */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID LeaseTill
UPDATE /* lettersq.Complete */ letters FORCE INDEX (PRIMARY)
SET    state = 'sent',
       lease_till = NULL,
       ended = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: lease_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID LeaseTill
SELECT /* lettersq.Fail */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID LeaseTill
UPDATE /* lettersq.Fail */ letters FORCE INDEX (PRIMARY)
SET    state = 'error',
       lease_till = NULL,
       ended = UTC_TIMESTAMP(6),
       cause = ?
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: lease_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID LeaseTill
SELECT /* lettersq.Requeue */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID LeaseTill
UPDATE /* lettersq.Requeue */ letters FORCE INDEX (PRIMARY)
SET    state = 'new',
       lease_till = NULL
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: lease_till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID LeaseTill
SELECT /* lettersq.Extend */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID LeaseTill
UPDATE /* lettersq.Extend */ letters FORCE INDEX (PRIMARY)
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND lease_till = ?))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Extend */
       id, CAST(lease_till AS CHAR)
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ letters
SET    state = 'new',
       lease_till = NULL
WHERE  state = 'busy'
AND    lease_till <= UTC_TIMESTAMP(6)
LIMIT  ?;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ letters
SET    state = 'new',
       lease_till = NULL,
       ended = NULL
WHERE  state = 'error'
LIMIT  ?;

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
SELECT /* lettersq.Purge */
       id
FROM   letters
WHERE  state = 'sent'
AND    ended <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
LIMIT  ?
FOR    UPDATE;

-- sql/purge_done_delete_pages.sql
-- purge_done: deletes rows from pages for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key; of pages one that begins with letter_id
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* lettersq.Purge */ pages
FROM   letters AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN pages ON pages.letter_id = held.id
WHERE  (held.id = ?);

-- sql/purge_done_insert_journal.sql
-- purge_done: inserts rows into journal for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* lettersq.Purge */ INTO journal
       (what, id, address, ended)
SELECT held.state, held.id, held.address, held.ended
FROM   letters AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?)
AND    (held.cause is not null);

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* lettersq.Purge */ FROM letters
WHERE  (id = ?)
AND    state = 'sent';

-- sql/purge_failed_lock.sql
-- purge_failed: locks rows, which purge_failed.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
SELECT /* lettersq.Purge */
       id
FROM   letters
WHERE  state = 'error'
AND    ended <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
LIMIT  ?
FOR    UPDATE;

-- sql/purge_failed_delete_pages.sql
-- purge_failed: deletes rows from pages for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of pages one that begins with letter_id
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* lettersq.Purge */ pages
FROM   letters AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN pages ON pages.letter_id = held.id
WHERE  (held.id = ?);

-- sql/purge_failed_insert_journal.sql
-- purge_failed: inserts rows into journal for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* lettersq.Purge */ INTO journal
       (what, id, address, ended)
SELECT held.state, held.id, held.address, held.ended
FROM   letters AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?)
AND    (held.cause is not null);

-- sql/purge_failed.sql
-- purge_failed: failed to gone, of the rows that purge_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* lettersq.Purge */ FROM letters
WHERE  (id = ?)
AND    state = 'error';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
INSERT /* lettersq.Enqueue */ INTO letters
       (address)
VALUES (?);

-- sql/enqueue_insert_pages.sql
-- enqueue: inserts rows into pages for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* lettersq.Enqueue */ INTO pages
       (letter_id, place)
SELECT held.id, 1
FROM   letters AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of totals for the rows that were added; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lettersq.Enqueue */ (
           SELECT held.address AS of_address,
                  count(*) AS jobs
           FROM   letters AS held FORCE INDEX (PRIMARY)
           WHERE  (held.id = ?)
           GROUP  BY held.address
       ) AS shared
       STRAIGHT_JOIN totals ON totals.address = shared.of_address
SET    totals.letters = (totals.letters + shared.jobs),
       totals.last_at = UTC_TIMESTAMP(6);

-- sql/enqueue_insert_letters.sql
-- enqueue: inserts rows into letters for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* lettersq.Enqueue */ INTO letters
       (address)
SELECT 'second'
FROM   letters AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?)
AND    (held.address = 'both');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'error' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND lease_till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   letters;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* lettersq.Backlog */
       count(*) AS ready
FROM   letters
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       id, address, cause
FROM   letters IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

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
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'ended', 'datetime' UNION ALL
           SELECT 'address', 'varchar' UNION ALL
           SELECT 'cause', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'letters'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of pages
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'letter_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'place', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'pages'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of totals
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'letters' AS name, 'int' AS type UNION ALL
           SELECT 'last_at', 'datetime' UNION ALL
           SELECT 'address', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'totals'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of journal
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'what' AS name, 'varchar' AS type UNION ALL
           SELECT 'id', 'bigint' UNION ALL
           SELECT 'address', 'varchar' UNION ALL
           SELECT 'ended', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'journal'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* lettersq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'letters_ready' AS name, 'state, id' AS columns, 'state, id' AS least
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX letters_ready ON letters (state, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
