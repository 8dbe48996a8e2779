-- Package postq uses the table post as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates post_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (account, (FIELD(type, 1, 4, 2, 3)) DESC, id)
-- isolation: read committed
-- arguments: 1: param account uint32, 2: held_list ID, 3: limit
SELECT /* postq.Claim */
       id, account, type, body
FROM   post
WHERE  account = ?
AND    NOT (id = ?)
ORDER  BY (FIELD(type, 1, 4, 2, 3)) DESC, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; account <=> account always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* postq.Complete */
       id
FROM   post FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    account <=> account
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; account <=> account always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* postq.Complete */ post
FROM   post FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    account <=> account;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; account <=> account always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* postq.Fail */
       id
FROM   post FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    account <=> account
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; account <=> account always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* postq.Fail */ post
FROM   post FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    account <=> account;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Account, 2: new Type, 3: new Body
INSERT /* postq.Enqueue */ INTO post
       (account, type, body)
VALUES (?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Account Type Body
INSERT /* postq.EnqueueMany */ INTO post
       (account, type, body)
VALUES (?, ?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* postq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* postq.Stats */
       count(*) AS ready
FROM   post;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same account is for
-- locks: none
-- index: (account, (FIELD(type, 1, 4, 2, 3)) DESC, id)
-- arguments: 1: param account uint32
SELECT /* postq.StatsOf */
       count(*) AS ready
FROM   post
WHERE  account = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by account
-- locks: none
-- index: none; it reads the whole table
SELECT /* postq.Backlog */
       account,
       count(*) AS ready
FROM   post
GROUP  BY account
ORDER  BY account;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (account, (FIELD(type, 1, 4, 2, 3)) DESC, id)
-- isolation: read committed
-- arguments: 1: param account uint32, 2: limit
SELECT /* postq.Peek */
       id, account, type, body
FROM   post
WHERE  account = ?
ORDER  BY (FIELD(type, 1, 4, 2, 3)) DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* postq.Verify */
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
SELECT /* postq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int unsigned' AS type UNION ALL
           SELECT 'account', 'int unsigned' UNION ALL
           SELECT 'type', 'int unsigned' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'post'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* postq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'post'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT'
UNION  ALL
SELECT 'the server is one of a cluster, whose nodes do not see each other''s row locks; say cluster: true in qgen.yaml'
FROM   DUAL
WHERE  (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_role = 'PRIMARY') > 1;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* postq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'post_ready' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'post'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE post ADD INDEX post_ready (account, (FIELD(type, 1, 4, 2, 3)) DESC, id), ALGORITHM=INPLACE, LOCK=SHARED;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
