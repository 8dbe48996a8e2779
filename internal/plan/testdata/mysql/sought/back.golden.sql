-- Package backq uses the table recall as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
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
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: recall_group (group_id)
-- isolation: read committed
-- arguments: 1: param groupID string, 2: limit
SELECT /* backq.Claim */
       task_id, token, group_id, CAST(begun AS CHAR), CAST(ended AS CHAR)
FROM   recall FORCE INDEX (recall_group)
WHERE  state = 2
AND    group_id = ?
ORDER  BY task_id, token
LIMIT  ?
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list TaskID Token
UPDATE /* backq.Claim */ recall FORCE INDEX (PRIMARY)
SET    state = 1
WHERE  ((task_id, token) IN ((?, ?)));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new TaskID, 2: new Token, 3: new GroupID, 4: new Begun, 5: new Ended
INSERT /* backq.Enqueue */ INTO recall
       (task_id, token, group_id, state, begun, ended)
VALUES (?, ?, ?, 2, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list TaskID Token GroupID Begun Ended
INSERT /* backq.EnqueueMany */ INTO recall
       (task_id, token, group_id, state, begun, ended)
VALUES (?, ?, ?, 2, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* backq.Stats */
       count(*) AS ready
FROM   recall
WHERE  state = 2;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same group_id is for
-- locks: none
-- index: recall_group (group_id); it reads others as well
-- arguments: 1: param groupID string
SELECT /* backq.StatsOf */
       count(*) AS ready
FROM   recall
WHERE  state = 2
AND    group_id = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by group_id
-- locks: none
-- index: none; it reads the whole table
SELECT /* backq.Backlog */
       group_id,
       count(*) AS ready
FROM   recall USE INDEX FOR GROUP BY ()
WHERE  state = 2
GROUP  BY group_id
ORDER  BY group_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: recall_group (group_id)
-- isolation: read committed
-- arguments: 1: param groupID string, 2: limit
SELECT /* backq.Peek */
       task_id, token, group_id, CAST(begun AS CHAR), CAST(ended AS CHAR)
FROM   recall FORCE INDEX (recall_group)
WHERE  state = 2
AND    group_id = ?
ORDER  BY task_id, token
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* backq.Verify */
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
SELECT /* backq.Verify */
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
SELECT /* backq.Verify */
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
SELECT /* backq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'recall_group' AS name, '' AS columns, '' AS least
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

-- serves Claim: the rows of each value that is asked for, in queue order; rows that are not ready are read and passed over: recall_group serves already
