-- Package ownedq uses the table tasks as a queue of jobs on MySQL 8 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_owned_ready.
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
-- note: enqueue=absent leaves a job out where a row is like it in owner_id; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (owner_id, id)
-- isolation: read committed
-- arguments: 1: param ownerID int64, 2: limit
SELECT /* ownedq.Claim */
       id, owner_id, kind, body
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  owner_id = ?
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key; owner_id <=> owner_id always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* ownedq.Claim */ tasks
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    owner_id <=> owner_id;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in owner_id: then it adds none
-- locks: the new row, until commit; what it reads to see that no row is like it, for reading
-- index: that of the foreign key (owner_id)
-- isolation: repeatable read
-- arguments: 1: new OwnerID, 2: new Kind, 3: new Body, 4: new OwnerID
INSERT /* ownedq.Enqueue */ INTO tasks
       (owner_id, kind, body)
SELECT ?, ?, ?
FROM   DUAL
WHERE  NOT EXISTS (
           SELECT 1
           FROM   tasks
           WHERE  owner_id = ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ownedq.Stats */
       count(*) AS ready
FROM   tasks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same owner_id is for
-- locks: none
-- index: that of the foreign key (owner_id)
-- arguments: 1: param ownerID int64
SELECT /* ownedq.StatsOf */
       count(*) AS ready
FROM   tasks
WHERE  owner_id = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by owner_id
-- locks: none
-- index: none; it reads the whole table
SELECT /* ownedq.Backlog */
       owner_id,
       count(*) AS ready
FROM   tasks
GROUP  BY owner_id
ORDER  BY owner_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (owner_id, id)
-- isolation: read committed
-- arguments: 1: param ownerID int64, 2: limit
SELECT /* ownedq.Peek */
       id, owner_id, kind, body
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  owner_id = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ownedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ownedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'owner_id', 'bigint' UNION ALL
           SELECT 'kind', 'int' UNION ALL
           SELECT 'body', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* ownedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'tasks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ownedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'tasks_owned_ready' AS name, 'owner_id, id' AS columns, 'owner_id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'tasks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE tasks ADD INDEX tasks_owned_ready (owner_id, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
