-- Package itemsq uses the table items as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_ready2.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the fence compares column "claimed", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (claimed, transport, created, id)
-- isolation: read committed
-- arguments: 1: param transport string, 2: limit
SELECT /* itemsq.Claim */
       id, transport, CAST(created AS CHAR), CAST(UTC_TIMESTAMP(0) AS CHAR)
FROM   items
WHERE  claimed IS NULL
AND    transport = ?
ORDER  BY created, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Claimed, 2: list ID
UPDATE /* itemsq.Claim */ items FORCE INDEX (PRIMARY)
SET    claimed = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: claimed as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
SELECT /* itemsq.Complete */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
DELETE /* itemsq.Complete */ items
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: claimed as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
SELECT /* itemsq.Fail */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
UPDATE /* itemsq.Fail */ items FORCE INDEX (PRIMARY)
SET    claimed = NULL
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: claimed as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
SELECT /* itemsq.Requeue */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
UPDATE /* itemsq.Requeue */ items FORCE INDEX (PRIMARY)
SET    claimed = NULL
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: claimed as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
SELECT /* itemsq.Extend */
       id
FROM   items FORCE INDEX (PRIMARY)
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Claimed
UPDATE /* itemsq.Extend */ items FORCE INDEX (PRIMARY)
SET    claimed = UTC_TIMESTAMP(0)
WHERE  ((id, claimed) IN ((?, ?)))
AND    claimed IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* itemsq.Extend */
       id, CAST(claimed AS CHAR)
FROM   items FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: items_ready (claimed, created, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* itemsq.Recover */ (
           SELECT id
           FROM   items
           WHERE  claimed IS NOT NULL
           AND    claimed <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN items ON items.id = picked.id
SET    claimed = NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Transport
INSERT /* itemsq.Enqueue */ INTO items
       (transport, created)
VALUES (?, UTC_TIMESTAMP(0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Transport
INSERT /* itemsq.EnqueueMany */ INTO items
       (transport, created)
VALUES (?, UTC_TIMESTAMP(0));

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
       count(CASE WHEN claimed IS NULL THEN 1 END) AS ready,
       count(CASE WHEN claimed IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN claimed IS NOT NULL AND claimed <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN claimed IS NULL THEN created END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN claimed IS NOT NULL THEN claimed END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   items;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same transport is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param transport string
SELECT /* itemsq.StatsOf */
       count(CASE WHEN claimed IS NULL THEN 1 END) AS ready,
       count(CASE WHEN claimed IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN claimed IS NOT NULL AND claimed <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN claimed IS NULL THEN created END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN claimed IS NOT NULL THEN claimed END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   items
WHERE  transport = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by transport
-- locks: none
-- index: items_ready (claimed, created, id)
SELECT /* itemsq.Backlog */
       transport,
       count(*) AS ready,
       TIMESTAMPDIFF(MICROSECOND, min(created), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   items
WHERE  claimed IS NULL
GROUP  BY transport
ORDER  BY transport;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (claimed, transport, created, id)
-- isolation: read committed
-- arguments: 1: param transport string, 2: limit
SELECT /* itemsq.Peek */
       id, transport, CAST(created AS CHAR)
FROM   items
WHERE  claimed IS NULL
AND    transport = ?
ORDER  BY created, id
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
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'transport', 'varchar' UNION ALL
           SELECT 'created', 'datetime' UNION ALL
           SELECT 'claimed', 'datetime'
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
           SELECT 'items_ready2' AS name, 'claimed, transport, created, id' AS columns, 'claimed, transport, created' AS least UNION ALL
           SELECT 'items_ready', '', ''
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

-- serves Claim: ready rows in queue order, so that nothing is sorted
ALTER TABLE items ADD INDEX items_ready2 (claimed, transport, created, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Recover: claims that ran out: items_ready serves already
