-- Package bothq uses the table both_keys as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
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

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns and those that it reads and passes over, until commit; passes over rows that are locked
-- index: by_switch (paused, priority, id)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: held_list ID, 2: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* bothq.Claim */
       id, team, priority, paused, body
FROM   both_keys FORCE INDEX (by_switch)
WHERE  (team = 'mail')
AND    (paused = 0 and not exists (select 1 from both_keys o where o.body = both_keys.body and o.id < both_keys.id))
AND    NOT (id = ?)
ORDER  BY priority, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* bothq.Complete */
       id
FROM   both_keys FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (team = 'mail')
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* bothq.Complete */ both_keys
FROM   both_keys FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (team = 'mail');

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Team, 2: new Priority, 3: new Paused, 4: new Body
INSERT /* bothq.Enqueue */ INTO both_keys
       (team, priority, paused, body)
VALUES (?, ?, coalesce(?, 0), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Team Priority Paused Body
INSERT /* bothq.EnqueueMany */ INTO both_keys
       (team, priority, paused, body)
VALUES (?, ?, coalesce(?, 0), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* bothq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* bothq.Stats */
       count(*) AS ready
FROM   both_keys
WHERE  (team = 'mail')
AND    (paused = 0 and not exists (select 1 from both_keys o where o.body = both_keys.body and o.id < both_keys.id));

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: by_switch (paused, priority, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* bothq.Peek */
       id, team, priority, paused, body
FROM   both_keys FORCE INDEX (by_switch)
WHERE  (team = 'mail')
AND    (paused = 0 and not exists (select 1 from both_keys o where o.body = both_keys.body and o.id < both_keys.id))
ORDER  BY priority, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* bothq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* bothq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'team', 'varchar' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'paused', 'tinyint' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'both_keys'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* bothq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'both_keys'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT'
UNION  ALL
SELECT 'the server is one of a cluster, whose nodes do not see each other''s row locks; say cluster: true in qgen.yaml'
FROM   DUAL
WHERE  @@wsrep_on = 1;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* bothq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'by_switch' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'both_keys'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: by_switch serves already
