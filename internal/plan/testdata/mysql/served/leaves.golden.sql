-- Package leavesq uses the table leaves as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim deletes the rows that its caller names, and that is all.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A crash leaves it done as a whole or not at all. Then the rows are gone, and nothing is left to be written.
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

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: the primary key (tree, part, queued, hash)
-- isolation: read committed
-- arguments: 1: param tree int64, 2: param maxQueued int64, 3: limit
SELECT /* leavesq.Claim */
       tree, part, queued, hash
FROM   leaves FORCE INDEX (`PRIMARY`)
WHERE  (part = 0)
AND    tree = ?
AND    queued <= ?
ORDER  BY queued, hash, tree, part
LIMIT  ?
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tree Part Queued Hash
DELETE /* leavesq.Claim */ leaves
FROM   leaves FORCE INDEX (PRIMARY)
WHERE  ((tree, part, queued, hash) IN ((?, ?, ?, ?)));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Tree, 2: new Part, 3: new Queued, 4: new Hash
INSERT /* leavesq.Enqueue */ INTO leaves
       (tree, part, queued, hash)
VALUES (?, ?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Tree Part Queued Hash
INSERT /* leavesq.EnqueueMany */ INTO leaves
       (tree, part, queued, hash)
VALUES (?, ?, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* leavesq.Stats */
       count(*) AS ready
FROM   leaves
WHERE  (part = 0);

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same tree and queued is for
-- locks: none
-- index: the primary key (tree, part, queued, hash)
-- arguments: 1: param tree int64, 2: param maxQueued int64
SELECT /* leavesq.StatsOf */
       count(*) AS ready
FROM   leaves
WHERE  (part = 0)
AND    tree = ?
AND    queued <= ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by tree
-- locks: none
-- index: none; it reads the whole table
SELECT /* leavesq.Backlog */
       tree,
       count(*) AS ready
FROM   leaves USE INDEX FOR GROUP BY ()
WHERE  (part = 0)
GROUP  BY tree
ORDER  BY tree;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (tree, part, queued, hash)
-- isolation: read committed
-- arguments: 1: param tree int64, 2: param maxQueued int64, 3: limit
SELECT /* leavesq.Peek */
       tree, part, queued, hash
FROM   leaves FORCE INDEX (`PRIMARY`)
WHERE  (part = 0)
AND    tree = ?
AND    queued <= ?
ORDER  BY queued, hash, tree, part
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* leavesq.Verify */
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
SELECT /* leavesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'tree' AS name, 'bigint' AS type UNION ALL
           SELECT 'part', 'int' UNION ALL
           SELECT 'queued', 'bigint' UNION ALL
           SELECT 'hash', 'varbinary'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'leaves'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* leavesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'leaves'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* leavesq.Verify */
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
                      AND    table_name = 'leaves'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
