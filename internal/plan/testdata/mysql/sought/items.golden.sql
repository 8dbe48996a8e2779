-- Package itemsq uses the table items as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It waits for rows that others have locked, looks again whether they are ready, and sorts them, which locks all of them until it commits. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: all ready rows of what is asked for, which are sorted first, until commit; waits for rows that are locked
-- index: items_source (source); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param_list source []string, 2: limit
SELECT /* itemsq.Claim */
       id, source
FROM   items FORCE INDEX (items_source)
WHERE  source IN (?)
ORDER  BY id
LIMIT  ?
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key; source <=> source always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* itemsq.Claim */ items
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    source <=> source;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Source
INSERT /* itemsq.Enqueue */ INTO items
       (source)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Source
INSERT /* itemsq.EnqueueMany */ INTO items
       (source)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* itemsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(*) AS ready
FROM   items;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same source is for
-- locks: none
-- index: items_source (source)
-- arguments: 1: param_list source []string
SELECT /* itemsq.StatsOf */
       count(*) AS ready
FROM   items
WHERE  source IN (?);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by source
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Backlog */
       source,
       count(*) AS ready
FROM   items
GROUP  BY source
ORDER  BY source;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: items_source (source); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param_list source []string, 2: limit
SELECT /* itemsq.Peek */
       id, source
FROM   items FORCE INDEX (items_source)
WHERE  source IN (?)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
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
SELECT /* itemsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'source', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'items'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'items'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* itemsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'items_source' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'items'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted: items_source serves already
