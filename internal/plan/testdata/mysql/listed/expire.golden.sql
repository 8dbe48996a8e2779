-- Package expireq uses the table blocks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates blocks_expire_ready.
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
-- note: no order is said: rows are taken in the order of the key, id

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: ahead, 2: ahead, 3: limit
SELECT /* expireq.Claim */
       blocks.id, blocks.node, CAST(blocks.began AS CHAR)
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   blocks IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 0
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   blocks IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 3
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN blocks FORCE INDEX (PRIMARY) ON blocks.id = candidate.candidate_1
WHERE  blocks.status IN (0, 3)
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* expireq.Claim */ blocks FORCE INDEX (PRIMARY)
SET    status = 6
WHERE  (id IN (?));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Node, 3: new Began
INSERT /* expireq.Enqueue */ INTO blocks
       (id, node, began)
VALUES (?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID Node Began
INSERT /* expireq.EnqueueMany */ INTO blocks
       (id, node, began)
VALUES (?, ?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* expireq.Stats */
       count(CASE WHEN status IN (0, 3) THEN 1 END) AS ready,
       count(CASE WHEN status = 6 THEN 1 END) AS done
FROM   blocks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
SELECT /* expireq.Backlog */
       count(*) AS ready
FROM   blocks
WHERE  status IN (0, 3);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit, 2: limit, 3: limit
SELECT /* expireq.Peek */
       blocks.id, blocks.node, CAST(blocks.began AS CHAR)
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   blocks IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 0
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   blocks IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 3
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN blocks FORCE INDEX (PRIMARY) ON blocks.id = candidate.candidate_1
ORDER  BY candidate.candidate_1
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* expireq.Verify */
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
SELECT /* expireq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'node', 'int' UNION ALL
           SELECT 'status', 'int' UNION ALL
           SELECT 'began', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'blocks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* expireq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'blocks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* expireq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'blocks_expire_ready' AS name, 'status, id' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'blocks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing
ALTER TABLE blocks ADD INDEX blocks_expire_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
