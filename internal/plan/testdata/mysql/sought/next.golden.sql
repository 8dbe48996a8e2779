-- Package nextq uses the table recall as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates recall_next_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: no order is said: rows are taken in the order of the key, task_id, token

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, group_id, task_id, token)
-- isolation: read committed
-- arguments: 1: param groupID string, 2: limit
SELECT /* nextq.Claim */
       task_id, token, group_id, CAST(begun AS CHAR), CAST(ended AS CHAR)
FROM   recall IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 1
AND    group_id = ?
ORDER  BY task_id, token
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key; group_id <=> group_id always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list TaskID Token
DELETE /* nextq.Claim */ recall
FROM   recall FORCE INDEX (PRIMARY)
WHERE  ((task_id, token) IN ((?, ?)))
AND    group_id <=> group_id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new TaskID, 2: new Token, 3: new GroupID, 4: new Begun, 5: new Ended
INSERT /* nextq.Enqueue */ INTO recall
       (task_id, token, group_id, state, begun, ended)
VALUES (?, ?, ?, 1, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list TaskID Token GroupID Begun Ended
INSERT /* nextq.EnqueueMany */ INTO recall
       (task_id, token, group_id, state, begun, ended)
VALUES (?, ?, ?, 1, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (state, group_id, task_id, token)
SELECT /* nextq.Stats */
       count(*) AS ready
FROM   recall
WHERE  state = 1;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same group_id is for
-- locks: none
-- index: (state, group_id, task_id, token)
-- arguments: 1: param groupID string
SELECT /* nextq.StatsOf */
       count(*) AS ready
FROM   recall
WHERE  state = 1
AND    group_id = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by group_id
-- locks: none
-- index: (state, group_id, task_id, token)
SELECT /* nextq.Backlog */
       group_id,
       count(*) AS ready
FROM   recall USE INDEX FOR GROUP BY ()
WHERE  state = 1
GROUP  BY group_id
ORDER  BY group_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, group_id, task_id, token)
-- isolation: read committed
-- arguments: 1: param groupID string, 2: limit
SELECT /* nextq.Peek */
       task_id, token, group_id, CAST(begun AS CHAR), CAST(ended AS CHAR)
FROM   recall IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 1
AND    group_id = ?
ORDER  BY task_id, token
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* nextq.Verify */
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
SELECT /* nextq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'task_id' AS name, 'char' AS type UNION ALL
           SELECT 'token', 'varchar' UNION ALL
           SELECT 'group_id', 'char' UNION ALL
           SELECT 'state', 'int' UNION ALL
           SELECT 'begun', 'datetime' UNION ALL
           SELECT 'ended', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'recall'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* nextq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'recall'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* nextq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'recall_next_ready' AS name, 'state, group_id, task_id, token' AS columns, 'state, group_id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'recall'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE recall ADD INDEX recall_next_ready (state, group_id, task_id, token), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
