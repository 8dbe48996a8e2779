-- Package commandsq uses the table commands as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> (error_commands)
--
-- Jobs are claimed by the strategy partition: strategy=partition is asked for.
--
-- Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker.
--
-- It takes no locks. A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard.
--
-- Besides the queue's own rows it writes error_commands (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=partition is asked for
--   lease_table  strategy=partition is asked for
--   hold         strategy=partition is asked for
-- * partition    strategy=partition is asked for
--   returning    strategy=partition is asked for
--   block        strategy=partition is asked for
--   token        strategy=partition is asked for
--   lock_update  strategy=partition is asked for
--   advisory     strategy=partition is asked for
--   guarded      strategy=partition is asked for
--   pop          strategy=partition is asked for
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again

-- sql/claim.sql
-- claim: the ready rows of one shard; nothing is written
-- locks: none; the shard keeps workers apart
-- index: priority_id (priority, id)
-- isolation: read committed
-- arguments: 1: shards, 2: shards, 3: shards, 4: shard, 5: limit
SELECT /* commandsq.Claim */
       id, what, priority
FROM   commands FORCE INDEX (priority_id)
WHERE  MOD(MOD(COALESCE(id, 0), ?) + ?, ?) = ?
ORDER  BY priority, id
LIMIT  ?;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; what <=> what always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* commandsq.Complete */
       id
FROM   commands FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    what <=> what
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; what <=> what always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* commandsq.Complete */ commands
FROM   commands FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    what <=> what;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key; what <=> what always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* commandsq.Fail */
       id
FROM   commands FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    what <=> what
FOR    UPDATE;

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to error_commands before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID
INSERT /* commandsq.Fail */ INTO error_commands
       (id, what, message)
SELECT held.id, held.what, ?
FROM   commands AS held FORCE INDEX (PRIMARY)
WHERE  (held.id IN (?));

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; what <=> what always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* commandsq.Fail */ commands
FROM   commands FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    what <=> what;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new What, 2: new Priority
INSERT /* commandsq.Enqueue */ INTO commands
       (what, priority)
VALUES (?, coalesce(?, 2));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list What Priority
INSERT /* commandsq.EnqueueMany */ INTO commands
       (what, priority)
VALUES (?, coalesce(?, 2));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* commandsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* commandsq.Stats */
       count(*) AS ready
FROM   commands;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: priority_id (priority, id)
-- isolation: read committed
-- arguments: 1: shards, 2: shards, 3: shards, 4: shard, 5: limit
SELECT /* commandsq.Peek */
       id, what, priority
FROM   commands FORCE INDEX (priority_id)
WHERE  MOD(MOD(COALESCE(id, 0), ?) + ?, ?) = ?
ORDER  BY priority, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* commandsq.Verify */
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
SELECT /* commandsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'what', 'varchar' UNION ALL
           SELECT 'priority', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'commands'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of error_commands
-- locks: none
SELECT /* commandsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'what', 'varchar' UNION ALL
           SELECT 'message', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'error_commands'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* commandsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'commands'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* commandsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'priority_id' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'commands'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: priority_id serves already
