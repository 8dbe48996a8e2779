-- Package lettersq uses the table letters as a queue of jobs on MySQL 5.7 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
--
-- Jobs are claimed by the strategy partition: no running state and a shard column: every worker reads its own share.
--
-- Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker.
--
-- It takes no locks. A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  no side table is asked for
--   hold         MySQL 5.7 cannot pass over locked rows
-- * partition    no running state and a shard column: every worker reads its own share
--   returning    the table has no running state that a claim could write
--   block        MySQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: the ready rows of one shard; nothing is written
-- locks: none; the shard keeps workers apart
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: shards, 2: shards, 3: shards, 4: shard, 5: limit
SELECT /* lettersq.Claim */
       id, body
FROM   letters FORCE INDEX (`PRIMARY`)
WHERE  MOD(MOD(COALESCE(id, 0), ?) + ?, ?) = ?
ORDER  BY id
LIMIT  ?;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* lettersq.Complete */
       id
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    body <=> body
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* lettersq.Complete */ letters
FROM   letters FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    body <=> body;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* lettersq.Enqueue */ INTO letters
       (body)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body
INSERT /* lettersq.EnqueueMany */ INTO letters
       (body)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* lettersq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(*) AS ready
FROM   letters;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: shards, 2: shards, 3: shards, 4: shard, 5: limit
SELECT /* lettersq.Peek */
       id, body
FROM   letters FORCE INDEX (`PRIMARY`)
WHERE  MOD(MOD(COALESCE(id, 0), ?) + ?, ?) = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 5.7')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 50700;

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
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'letters'
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
                      AND    table_name = 'letters'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
