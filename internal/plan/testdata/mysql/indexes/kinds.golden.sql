-- Package kindsq uses the table kinds as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates kinds_ready.
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
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: param_list kind []int32, 2: param shop *int32, 3: param shop *int32, 4: limit
SELECT /* kindsq.Claim */
       id, kind, shop
FROM   kinds IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'r'
AND    kind IN (?)
AND    (? IS NULL OR shop = ?)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* kindsq.Claim */ kinds FORCE INDEX (PRIMARY)
SET    state = 'x'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* kindsq.Complete */
       id
FROM   kinds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'x'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* kindsq.Complete */ kinds
FROM   kinds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'x';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* kindsq.Fail */
       id
FROM   kinds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'x'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* kindsq.Fail */ kinds FORCE INDEX (PRIMARY)
SET    state = 'r'
WHERE  (id IN (?))
AND    state = 'x';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* kindsq.Requeue */
       id
FROM   kinds FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'x'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* kindsq.Requeue */ kinds FORCE INDEX (PRIMARY)
SET    state = 'r'
WHERE  (id IN (?))
AND    state = 'x';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Shop
INSERT /* kindsq.Enqueue */ INTO kinds
       (kind, shop)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Kind Shop
INSERT /* kindsq.EnqueueMany */ INTO kinds
       (kind, shop)
VALUES (?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* kindsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* kindsq.Stats */
       count(CASE WHEN state = 'r' THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running
FROM   kinds;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind and shop is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param_list kind []int32, 2: param shop *int32, 3: param shop *int32
SELECT /* kindsq.StatsOf */
       count(CASE WHEN state = 'r' THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running
FROM   kinds
WHERE  kind IN (?)
AND    (? IS NULL OR shop = ?);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind and shop
-- locks: none
-- index: (state, id)
SELECT /* kindsq.Backlog */
       kind,
       shop,
       count(*) AS ready
FROM   kinds
WHERE  state = 'r'
GROUP  BY kind, shop
ORDER  BY kind, shop;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: param_list kind []int32, 2: param shop *int32, 3: param shop *int32, 4: limit
SELECT /* kindsq.Peek */
       id, kind, shop
FROM   kinds IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'r'
AND    kind IN (?)
AND    (? IS NULL OR shop = ?)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* kindsq.Verify */
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
SELECT /* kindsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'kind', 'int' UNION ALL
           SELECT 'shop', 'int' UNION ALL
           SELECT 'state', 'char'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'kinds'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* kindsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'kinds'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* kindsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'kinds_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'kinds'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows of another kind are read and passed over; rows of another shop are read and passed over
ALTER TABLE kinds ADD INDEX kinds_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
