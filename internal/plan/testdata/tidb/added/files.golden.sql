-- Package filesq uses the tables files and files_acquired as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running for good: nothing in files_acquired tells that it is gone.
--
-- Besides the queue's own rows it writes journal (Enqueue), each in the transaction of the operation.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then moves
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Claim */
       id
FROM   files FORCE INDEX (`PRIMARY`)
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: the key; address <=> address always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* filesq.Claim */
       id
FROM   files FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    address <=> address
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, a row of files_acquired for each of the rows that claim_lock.sql locked
-- locks: the rows it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token Mark, 2: list ID
INSERT /* filesq.Claim */ INTO files_acquired
       (id, address, mark)
SELECT held.id, held.address, ?
FROM   files AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* filesq.Claim */
       id, address, mark
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to files_acquired
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* filesq.Claim */ FROM files
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; address <=> address always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* filesq.Complete */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    address <=> address
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* filesq.Complete */ FROM files_acquired
WHERE  ((id = ? AND mark = ?));

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; address <=> address always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* filesq.Fail */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    address <=> address
FOR    UPDATE;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to files before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
INSERT /* filesq.Fail */ INTO files
       (id, address)
SELECT held.id, held.address
FROM   files_acquired AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.mark = ?));

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* filesq.Fail */ FROM files_acquired
WHERE  ((id = ? AND mark = ?));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; address <=> address always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* filesq.Requeue */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    address <=> address
FOR    UPDATE;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to files before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
INSERT /* filesq.Requeue */ INTO files
       (id, address)
SELECT held.id, held.address
FROM   files_acquired AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.mark = ?));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* filesq.Requeue */ FROM files_acquired
WHERE  ((id = ? AND mark = ?));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
INSERT /* filesq.Enqueue */ INTO files
       (address)
VALUES (?);

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* filesq.Enqueue */ INTO journal
       (what, id, address)
SELECT 'file', held.id, held.address
FROM   files AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       ready,
       running
FROM   (
           SELECT count(*) AS ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */
       id, address
FROM   files FORCE INDEX (`PRIMARY`)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'address', 'varchar' UNION ALL
           SELECT 'mark', 'char'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'files_acquired'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* filesq.Verify */
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

-- sql/verify_columns_ready.sql
-- verify: columns of files
-- locks: none
SELECT /* filesq.Verify */
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
       AND have.table_name = 'files'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_kind_ready.sql
-- verify: kind of files
-- locks: none
SELECT /* filesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'files'
AND    have.engine <> 'InnoDB';

-- sql/verify_index_ready.sql
-- verify: index of files
-- locks: none
SELECT /* filesq.Verify */
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
                      AND    table_name = 'files'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* filesq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
