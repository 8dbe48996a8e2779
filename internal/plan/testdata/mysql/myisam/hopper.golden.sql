-- Package hopperq uses the table hopper as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It reads candidates and takes them one by one, each by an UPDATE that compares the old state; the engine locks the table while one runs, and a caller's transaction cannot take it back. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table is of the engine MEMORY, which has no transactions and locks no rows: what is written stays written, whatever becomes of the transaction of the caller's. The package works over InnoDB as well, and Verify takes that; generated again from such a DDL it settles many jobs at once.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates hopper_ready.
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
--   lock_update  the engine MEMORY has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
--   advisory     MySQL has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          the engine MEMORY has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, campaign); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param campaign string, 2: limit
SELECT /* hopperq.Claim */
       id
FROM   hopper
WHERE  state = 'N'
AND    campaign = ?
ORDER  BY priority DESC, id
LIMIT  ?;

-- sql/claim.sql
-- claim: ready to running, of one of the rows that claim_pick.sql named, unless somebody took it since
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID, 2: param campaign string
UPDATE /* hopperq.Claim */ hopper FORCE INDEX (PRIMARY)
SET    state = 'A'
WHERE  (id IN (?))
AND    state = 'N'
AND    campaign = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* hopperq.Claim */
       id, campaign, priority
FROM   hopper FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_held.sql
-- complete: reads whether the claim is still the caller's, where complete.sql changed nothing
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* hopperq.Complete */
       id
FROM   hopper FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A';

-- sql/complete.sql
-- complete: running to done
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* hopperq.Complete */ hopper FORCE INDEX (PRIMARY)
SET    state = 'C'
WHERE  (id IN (?))
AND    state = 'A';

-- sql/retry_held.sql
-- retry: reads whether the claim is still the caller's, where retry.sql changed nothing
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* hopperq.Fail */
       id
FROM   hopper FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A';

-- sql/retry.sql
-- retry: running to ready
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* hopperq.Fail */ hopper FORCE INDEX (PRIMARY)
SET    state = 'N'
WHERE  (id IN (?))
AND    state = 'A';

-- sql/requeue_held.sql
-- requeue: reads whether the claim is still the caller's, where requeue.sql changed nothing
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* hopperq.Requeue */
       id
FROM   hopper FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* hopperq.Requeue */ hopper FORCE INDEX (PRIMARY)
SET    state = 'N'
WHERE  (id IN (?))
AND    state = 'A';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the table, while the statement runs
-- index: (state, campaign)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* hopperq.Purge */ hopper
FROM   (
           SELECT id
           FROM   hopper
           WHERE  state = 'C'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN hopper ON hopper.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the table, while the statement runs
-- arguments: 1: new Campaign, 2: new Priority
INSERT /* hopperq.Enqueue */ INTO hopper
       (campaign, state, priority)
VALUES (?, 'N', ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the table, while the statement runs
-- arguments: 1: new_list Campaign Priority
INSERT /* hopperq.EnqueueMany */ INTO hopper
       (campaign, state, priority)
VALUES (?, 'N', ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* hopperq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* hopperq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'C' THEN 1 END) AS done
FROM   hopper;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same campaign is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param campaign string
SELECT /* hopperq.StatsOf */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'C' THEN 1 END) AS done
FROM   hopper
WHERE  campaign = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by campaign
-- locks: none
-- index: (state, campaign)
SELECT /* hopperq.Backlog */
       campaign,
       count(*) AS ready
FROM   hopper
WHERE  state = 'N'
GROUP  BY campaign
ORDER  BY campaign;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, campaign); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param campaign string, 2: limit
SELECT /* hopperq.Peek */
       id, campaign, priority
FROM   hopper
WHERE  state = 'N'
AND    campaign = ?
ORDER  BY priority DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* hopperq.Verify */
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
SELECT /* hopperq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'campaign', 'varchar' UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'priority', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'hopper'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* hopperq.Verify */
       'binlog_format is STATEMENT, which refuses writes to an InnoDB table at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'hopper'
AND    have.engine = 'InnoDB'
AND    @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* hopperq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'hopper_ready' AS name, 'state, campaign' AS columns, 'state, campaign' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'hopper'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted: the engine MEMORY has no index with columns in falling order
ALTER TABLE hopper ADD INDEX hopper_ready USING BTREE (state, campaign);
