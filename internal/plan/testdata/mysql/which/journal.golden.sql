-- Package journalq uses the table journal as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete); tags (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates journal_ready and journal_others.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (holder, id)
-- isolation: read committed
-- arguments: 1: worker Holder, 2: limit
SELECT /* journalq.Claim */
       id, ident, ?, weight
FROM   journal
WHERE  holder IS NULL
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Holder, 2: list ID
UPDATE /* journalq.Claim */ journal FORCE INDEX (PRIMARY)
SET    holder = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* journalq.Complete */
       id
FROM   journal FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    holder IS NOT NULL
FOR    UPDATE;

-- sql/complete_delete_journal.sql
-- complete: deletes rows from journal for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (ident)
-- isolation: read committed
-- arguments: 1: list ID, 2: list ID Holder
DELETE /* journalq.Complete */ journal
FROM   journal AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN journal ON journal.ident = held.ident
                     AND journal.holder IS NULL
                     AND NOT (journal.id IN (?))
WHERE  ((held.id, held.holder) IN ((?, ?)))
AND    (journal.id <= held.id);

-- sql/complete_update_tags.sql
-- complete: updates rows of tags for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of tags one that begins with ident
-- isolation: read committed
-- arguments: 1: list ID Holder
UPDATE /* journalq.Complete */ journal AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tags ON tags.ident = held.ident
SET    tags.seen = 1
WHERE  ((held.id, held.holder) IN ((?, ?)))
AND    (tags.lowest between 1 and held.weight);

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
DELETE /* journalq.Complete */ journal
FROM   journal FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    holder IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* journalq.Fail */
       id
FROM   journal FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    holder IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
UPDATE /* journalq.Fail */ journal FORCE INDEX (PRIMARY)
SET    holder = NULL
WHERE  ((id, holder) IN ((?, ?)))
AND    holder IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
SELECT /* journalq.Requeue */
       id
FROM   journal FORCE INDEX (PRIMARY)
WHERE  ((id, holder) IN ((?, ?)))
AND    holder IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Holder
UPDATE /* journalq.Requeue */ journal FORCE INDEX (PRIMARY)
SET    holder = NULL
WHERE  ((id, holder) IN ((?, ?)))
AND    holder IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Ident, 2: new Weight
INSERT /* journalq.Enqueue */ INTO journal
       (ident, weight)
VALUES (?, coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Ident Weight
INSERT /* journalq.EnqueueMany */ INTO journal
       (ident, weight)
VALUES (?, coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* journalq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* journalq.Stats */
       count(CASE WHEN holder IS NULL THEN 1 END) AS ready,
       count(CASE WHEN holder IS NOT NULL THEN 1 END) AS running
FROM   journal;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (holder, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* journalq.Peek */
       id, ident, weight
FROM   journal
WHERE  holder IS NULL
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* journalq.Verify */
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
SELECT /* journalq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'ident', 'varchar' UNION ALL
           SELECT 'holder', 'varchar' UNION ALL
           SELECT 'weight', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'journal'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of tags
-- locks: none
SELECT /* journalq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'seen' AS name, 'int' AS type UNION ALL
           SELECT 'ident', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tags'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* journalq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'journal'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* journalq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'journal_ready' AS name, 'holder, id' AS columns, 'holder' AS least UNION ALL
           SELECT 'journal_others', 'ident', 'ident'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'journal'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE journal ADD INDEX journal_ready (holder, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- finds the rows of other jobs that a step writes
ALTER TABLE journal ADD INDEX journal_others (ident), ALGORITHM=INPLACE, LOCK=NONE;
