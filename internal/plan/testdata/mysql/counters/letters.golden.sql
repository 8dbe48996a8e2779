-- Package lettersq uses the table letters as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes totals (Enqueue, Claim, Complete, Fail, Requeue); workers (Complete); tries (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: warning: also: fail makes column "queued" of totals from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: worker Holder, 2: limit
SELECT /* lettersq.Claim */
       id, address, weight, tries + 1, ?
FROM   letters IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Holder, 2: list ID
UPDATE /* lettersq.Claim */ letters FORCE INDEX (PRIMARY)
SET    state = 'busy',
       tries = tries + 1,
       holder = ?
WHERE  (id IN (?));

-- sql/claim_update_totals.sql
-- claim: updates rows of totals for the rows that were taken; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address, kind
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lettersq.Claim */ (
           SELECT held.address AS of_address,
                  count(*) AS jobs
           FROM   letters AS held FORCE INDEX (PRIMARY)
           WHERE  (held.id IN (?))
           GROUP  BY held.address
       ) AS shared
       STRAIGHT_JOIN totals ON totals.address = shared.of_address
                     AND totals.kind = 'letter'
SET    totals.queued = (totals.queued - shared.jobs),
       totals.taken_at = UTC_TIMESTAMP(6);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Complete */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Complete */ (
           SELECT held.address AS of_address,
                  sum(held.weight) AS sum_weight,
                  count(*) AS jobs
           FROM   letters AS held FORCE INDEX (PRIMARY)
           WHERE  ((held.id, held.tries, held.holder) IN ((?, ?, ?)))
           GROUP  BY held.address
       ) AS shared
       STRAIGHT_JOIN totals ON totals.address = shared.of_address
SET    totals.weight = (totals.weight - shared.sum_weight),
       totals.queued = (totals.queued + 0 * shared.jobs);

-- sql/complete_update_totals_2.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Complete */ letters AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN totals ON totals.address = held.address
SET    totals.last_id = held.id
WHERE  ((held.id, held.tries, held.holder) IN ((?, ?, ?)));

-- sql/complete_update_workers.sql
-- complete: updates rows of workers for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of workers one that begins with name
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Complete */ (
           SELECT held.holder AS of_name,
                  count(*) AS jobs
           FROM   letters AS held FORCE INDEX (PRIMARY)
           WHERE  ((held.id, held.tries, held.holder) IN ((?, ?, ?)))
           GROUP  BY held.holder
       ) AS shared
       STRAIGHT_JOIN workers ON workers.name = shared.of_name
SET    workers.done = (done + 2 * shared.jobs);

-- sql/complete.sql
-- complete: running to done
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Complete */ letters FORCE INDEX (PRIMARY)
SET    state = 'sent'
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Fail */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry_update_totals.sql
-- retry: updates rows of totals for the rows that retry_lock.sql locked, before retry.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Fail */ (
           SELECT held.address AS of_address,
                  count(*) AS jobs,
                  sum(-held.weight + 1) AS sum_weight
           FROM   letters AS held FORCE INDEX (PRIMARY)
           WHERE  ((held.id, held.tries, held.holder) IN ((?, ?, ?)))
           GROUP  BY held.address
       ) AS shared
       STRAIGHT_JOIN totals ON totals.address = shared.of_address
SET    totals.queued = (totals.queued + shared.jobs),
       totals.weight = (coalesce(totals.weight, 0) + shared.sum_weight);

-- sql/retry_update_tries.sql
-- retry: updates rows of tries for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key; of tries one that begins with letter_id
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Fail */ letters AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tries ON tries.letter_id = held.id
SET    tries.n = (n + 1)
WHERE  ((held.id, held.tries, held.holder) IN ((?, ?, ?)));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Fail */ letters FORCE INDEX (PRIMARY)
SET    state = 'new',
       holder = NULL
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Fail */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail_update_totals.sql
-- fail: updates rows of totals for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Fail */ letters AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN totals ON totals.address = held.address
SET    totals.queued = ((totals.queued + 1) * 2)
WHERE  ((held.id, held.tries, held.holder) IN ((?, ?, ?)));

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Fail */ letters FORCE INDEX (PRIMARY)
SET    state = 'lost'
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Requeue */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue_update_totals.sql
-- requeue: updates rows of totals for the rows that requeue_lock.sql locked, before requeue.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Requeue */ (
           SELECT held.address AS of_address,
                  count(*) AS jobs
           FROM   letters AS held FORCE INDEX (PRIMARY)
           WHERE  ((held.id, held.tries, held.holder) IN ((?, ?, ?)))
           GROUP  BY held.address
       ) AS shared
       STRAIGHT_JOIN totals ON totals.address = shared.of_address
SET    totals.queued = (totals.queued + shared.jobs);

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Holder
UPDATE /* lettersq.Requeue */ letters FORCE INDEX (PRIMARY)
SET    state = 'new',
       tries = tries - 1,
       holder = NULL
WHERE  ((id, tries, holder) IN ((?, ?, ?)))
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ (
           SELECT id
           FROM   letters
           WHERE  state = 'lost'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters ON letters.id = picked.id
SET    state = 'new',
       tries = 0,
       holder = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Purge */ letters
FROM   (
           SELECT id
           FROM   letters
           WHERE  state = 'sent'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters ON letters.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Purge */ letters
FROM   (
           SELECT id
           FROM   letters
           WHERE  state = 'lost'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN letters ON letters.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address, 2: new Weight
INSERT /* lettersq.Enqueue */ INTO letters
       (address, weight)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Address Weight
INSERT /* lettersq.EnqueueMany */ INTO letters
       (address, weight)
VALUES (?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* lettersq.EnqueueMany */
       @@auto_increment_increment;

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of totals for the rows that were added; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* lettersq.Enqueue */ (
           SELECT held.address AS of_address,
                  count(*) AS jobs,
                  sum(held.weight) AS sum_weight
           FROM   letters AS held FORCE INDEX (PRIMARY)
           WHERE  (held.id IN (?))
           GROUP  BY held.address
       ) AS shared
       STRAIGHT_JOIN totals ON totals.address = shared.of_address
SET    totals.queued = (queued + shared.jobs),
       totals.weight = (totals.weight + shared.sum_weight);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'lost' THEN 1 END) AS failed
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
       id, address, weight, tries
FROM   letters IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
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
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'address', 'varchar' UNION ALL
           SELECT 'weight', 'int' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'holder', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'letters'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of totals
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'queued' AS name, 'int' AS type UNION ALL
           SELECT 'weight', 'int' UNION ALL
           SELECT 'address', 'varchar' UNION ALL
           SELECT 'taken_at', 'datetime' UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'last_id', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'totals'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of workers
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'done' AS name, 'int' AS type UNION ALL
           SELECT 'name', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'workers'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of tries
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'n' AS name, 'int' AS type UNION ALL
           SELECT 'letter_id', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tries'
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
           SELECT 'letters_ready' AS name, 'state, id' AS columns, 'state' AS least
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE letters ADD INDEX letters_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
