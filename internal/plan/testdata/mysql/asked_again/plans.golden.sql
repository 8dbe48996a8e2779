-- Package plansq uses the table plans as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready or not, by what it writes to run_at
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- Besides the queue's own rows it writes plan_runs (Claim), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates plans_ready.
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

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then writes
-- locks: the rows it returns and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* plansq.Claim */
       id
FROM   plans
WHERE  run_at <= UTC_TIMESTAMP(6)
AND    (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'))
ORDER  BY run_at, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim_again.sql
-- claim: those of the rows that are ready still, as claims before it have left other tables
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* plansq.Claim */
       id
FROM   plans FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'));

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay; run_at tells whether they are ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* plansq.Claim */ plans FORCE INDEX (PRIMARY)
SET    run_at = (run_at - interval '1' second)
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads the rows as they are written
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* plansq.Claim */
       id, name, CAST(run_at AS CHAR)
FROM   plans FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/claim_insert_plan_runs.sql
-- claim: inserts rows into plan_runs for the rows that claim_lock.sql locked, before claim.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* plansq.Claim */ INTO plan_runs
       (plan_id, state)
SELECT held.id, 'running'
FROM   plans AS held FORCE INDEX (PRIMARY)
WHERE  (held.id IN (?));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Name, 3: new RunAt
INSERT /* plansq.Enqueue */ INTO plans
       (id, name, run_at)
VALUES (?, ?, coalesce(?, UTC_TIMESTAMP(6)));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due and the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID Name RunAt
INSERT /* plansq.EnqueueMany */ INTO plans
       (id, name, run_at)
VALUES (?, ?, coalesce(?, UTC_TIMESTAMP(6)));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* plansq.Stats */
       count(CASE WHEN run_at <= UTC_TIMESTAMP(6) AND (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running')) THEN 1 END) AS ready,
       count(CASE WHEN run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN run_at <= UTC_TIMESTAMP(6) AND (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running')) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   plans;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* plansq.Peek */
       id, name, CAST(run_at AS CHAR)
FROM   plans
WHERE  run_at <= UTC_TIMESTAMP(6)
AND    (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'))
ORDER  BY run_at, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* plansq.Verify */
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
SELECT /* plansq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'name', 'varchar' UNION ALL
           SELECT 'run_at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'plans'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of plan_runs
-- locks: none
SELECT /* plansq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'plan_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'plan_runs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* plansq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'plans'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* plansq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'plans_ready' AS name, 'run_at, id' AS columns, 'run_at' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'plans'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
ALTER TABLE plans ADD INDEX plans_ready (run_at, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
