-- Package flipsq uses the table flips as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits; another claimer waits for it. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates flips_ready.
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
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (processed, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* flipsq.Claim */
       id, status, CAST(until_at AS CHAR)
FROM   flips IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  processed IS NULL
AND    (until_at > UTC_TIMESTAMP(6) OR until_at IS NULL)
ORDER  BY id
LIMIT  ?
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* flipsq.Claim */ flips FORCE INDEX (PRIMARY)
SET    processed = UTC_TIMESTAMP(6)
WHERE  (id = ?);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (processed, id)
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  processed IS NOT NULL
AND    processed <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
LIMIT  ?;

-- sql/purge_overdue.sql
-- purge_overdue: ready and past its time to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (processed, id); it reads those that are not old enough as well, which one on (processed, until_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  processed IS NULL
AND    until_at <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
LIMIT  ?;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Status, 2: new UntilAt
INSERT /* flipsq.Enqueue */ INTO flips
       (status, until_at)
VALUES (?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* flipsq.Stats */
       count(CASE WHEN processed IS NULL AND (until_at > UTC_TIMESTAMP(6) OR until_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN processed IS NOT NULL THEN 1 END) AS done
FROM   flips;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (processed, id); it reads others as well
SELECT /* flipsq.Backlog */
       count(*) AS ready
FROM   flips
WHERE  processed IS NULL
AND    (until_at > UTC_TIMESTAMP(6) OR until_at IS NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (processed, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* flipsq.Peek */
       id, status, CAST(until_at AS CHAR)
FROM   flips IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  processed IS NULL
AND    (until_at > UTC_TIMESTAMP(6) OR until_at IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* flipsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* flipsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'until_at', 'datetime' UNION ALL
           SELECT 'processed', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'flips'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* flipsq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* flipsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'flips_ready' AS name, 'processed, id' AS columns, 'processed, id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'flips'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX flips_ready ON flips (processed, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
