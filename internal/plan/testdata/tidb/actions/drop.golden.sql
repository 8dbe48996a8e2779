-- Package dropq uses the table jobs as a queue of jobs on TiDB 7.5 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It waits for rows that others have locked, looks again whether they are ready, and sorts them, which locks all of them until it commits. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
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
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: all ready rows of what is asked for, which are sorted first, until commit; waits for rows that are locked
-- index: jobs_host (host); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param host string, 2: limit
SELECT /* dropq.Claim */
       id, host, state, priority, CAST(till AS CHAR), reason
FROM   jobs FORCE INDEX (jobs_host)
WHERE  host = ?
ORDER  BY id
LIMIT  ?
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* dropq.Claim */ FROM jobs
WHERE  (id = ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Stats */
       count(*) AS ready
FROM   jobs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same host is for
-- locks: none
-- index: jobs_host (host)
-- arguments: 1: param host string
SELECT /* dropq.StatsOf */
       count(*) AS ready
FROM   jobs
WHERE  host = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by host
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Backlog */
       host,
       count(*) AS ready
FROM   jobs
GROUP  BY host
ORDER  BY host;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: jobs_host (host); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param host string, 2: limit
SELECT /* dropq.Peek */
       id, host, state, priority, CAST(till AS CHAR), reason
FROM   jobs FORCE INDEX (jobs_host)
WHERE  host = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* dropq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'host', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'till', 'datetime' UNION ALL
           SELECT 'reason', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* dropq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* dropq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_host' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'jobs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted: jobs_host serves already
