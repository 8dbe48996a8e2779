-- Package drupalq uses the table queue as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "expire" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the fence compares column "expire", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: name_created (name, created)
-- isolation: read committed
-- arguments: 1: param name string, 2: limit
SELECT /* drupalq.Claim */
       item_id, name, data, FLOOR(UNIX_TIMESTAMP() + 3600), created
FROM   queue FORCE INDEX (name_created)
WHERE  (expire <= UNIX_TIMESTAMP() OR expire = 0)
AND    name = ?
ORDER  BY created, item_id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Expire, 2: list ItemID
UPDATE /* drupalq.Claim */ queue FORCE INDEX (PRIMARY)
SET    expire = ?
WHERE  (item_id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: expire as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
SELECT /* drupalq.Complete */
       item_id
FROM   queue FORCE INDEX (PRIMARY)
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: expire as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
DELETE /* drupalq.Complete */ queue
FROM   queue FORCE INDEX (PRIMARY)
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: expire as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
SELECT /* drupalq.Fail */
       item_id
FROM   queue FORCE INDEX (PRIMARY)
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: expire as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
UPDATE /* drupalq.Fail */ queue FORCE INDEX (PRIMARY)
SET    expire = 0
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: expire as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
SELECT /* drupalq.Requeue */
       item_id
FROM   queue FORCE INDEX (PRIMARY)
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: expire as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
UPDATE /* drupalq.Requeue */ queue FORCE INDEX (PRIMARY)
SET    expire = 0
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: expire as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
SELECT /* drupalq.Extend */
       item_id
FROM   queue FORCE INDEX (PRIMARY)
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: expire as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID Expire
UPDATE /* drupalq.Extend */ queue FORCE INDEX (PRIMARY)
SET    expire = FLOOR(UNIX_TIMESTAMP() + 3600)
WHERE  ((item_id, expire) IN ((?, ?)))
AND    expire <> 0;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ItemID
SELECT /* drupalq.Extend */
       item_id, expire
FROM   queue FORCE INDEX (PRIMARY)
WHERE  (item_id IN (?));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Name, 2: new Data
INSERT /* drupalq.Enqueue */ INTO queue
       (name, data, created)
VALUES (coalesce(?, ''), ?, UNIX_TIMESTAMP());

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Name Data
INSERT /* drupalq.EnqueueMany */ INTO queue
       (name, data, created)
VALUES (coalesce(?, ''), ?, UNIX_TIMESTAMP());

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* drupalq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* drupalq.Stats */
       count(CASE WHEN (expire <= UNIX_TIMESTAMP() OR expire = 0) THEN 1 END) AS ready,
       count(CASE WHEN expire <> 0 AND expire > UNIX_TIMESTAMP() THEN 1 END) AS running,
       count(CASE WHEN expire <> 0 AND expire <= UNIX_TIMESTAMP() THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (expire <= UNIX_TIMESTAMP() OR expire = 0) THEN created END) AS SIGNED) AS oldest_ready
FROM   queue;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same name is for
-- locks: none
-- index: name_created (name, created)
-- arguments: 1: param name string
SELECT /* drupalq.StatsOf */
       count(CASE WHEN (expire <= UNIX_TIMESTAMP() OR expire = 0) THEN 1 END) AS ready,
       count(CASE WHEN expire <> 0 AND expire > UNIX_TIMESTAMP() THEN 1 END) AS running,
       count(CASE WHEN expire <> 0 AND expire <= UNIX_TIMESTAMP() THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN (expire <= UNIX_TIMESTAMP() OR expire = 0) THEN created END) AS SIGNED) AS oldest_ready
FROM   queue
WHERE  name = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by name
-- locks: none
-- index: none; it reads the whole table
SELECT /* drupalq.Backlog */
       name,
       count(*) AS ready,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(created) AS SIGNED) AS oldest_ready
FROM   queue USE INDEX FOR GROUP BY ()
WHERE  (expire <= UNIX_TIMESTAMP() OR expire = 0)
GROUP  BY name
ORDER  BY name;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: name_created (name, created)
-- isolation: read committed
-- arguments: 1: param name string, 2: limit
SELECT /* drupalq.Peek */
       item_id, name, data, expire, created
FROM   queue FORCE INDEX (name_created)
WHERE  (expire <= UNIX_TIMESTAMP() OR expire = 0)
AND    name = ?
ORDER  BY created, item_id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* drupalq.Verify */
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
SELECT /* drupalq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'item_id' AS name, 'int unsigned' AS type UNION ALL
           SELECT 'name', 'varchar' UNION ALL
           SELECT 'data', 'longblob' UNION ALL
           SELECT 'expire', 'bigint' UNION ALL
           SELECT 'created', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'queue'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* drupalq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'queue'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* drupalq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'name_created' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'queue'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: name_created serves already
