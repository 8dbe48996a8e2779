-- Package urlsq uses the table urls as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates urls_ready.
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

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (processed, job, id)
-- isolation: read committed
-- arguments: 1: param jobValue int32, 2: limit
SELECT /* urlsq.Claim */
       id, job, uri
FROM   urls IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  processed = 0
AND    job = ?
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* urlsq.Claim */ urls FORCE INDEX (PRIMARY)
SET    processed = 1,
       seen = UTC_TIMESTAMP(6)
WHERE  (id = ?);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (processed, job, id); it reads those that are not old enough as well, which one on (processed, seen) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* urlsq.Purge */ urls
FROM   (
           SELECT id
           FROM   urls
           WHERE  processed = 1
           AND    seen <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN urls ON urls.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Job, 2: new URI
INSERT /* urlsq.Enqueue */ INTO urls
       (job, uri)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Job URI
INSERT /* urlsq.EnqueueMany */ INTO urls
       (job, uri)
VALUES (?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* urlsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* urlsq.Stats */
       count(CASE WHEN processed = 0 THEN 1 END) AS ready,
       count(CASE WHEN processed = 1 THEN 1 END) AS done
FROM   urls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param jobValue int32
SELECT /* urlsq.StatsOf */
       count(CASE WHEN processed = 0 THEN 1 END) AS ready,
       count(CASE WHEN processed = 1 THEN 1 END) AS done
FROM   urls
WHERE  job = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job
-- locks: none
-- index: (processed, job, id)
SELECT /* urlsq.Backlog */
       job,
       count(*) AS ready
FROM   urls
WHERE  processed = 0
GROUP  BY job
ORDER  BY job;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (processed, job, id)
-- isolation: read committed
-- arguments: 1: param jobValue int32, 2: limit
SELECT /* urlsq.Peek */
       id, job, uri
FROM   urls IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  processed = 0
AND    job = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'job', 'int' UNION ALL
           SELECT 'uri', 'varchar' UNION ALL
           SELECT 'processed', 'tinyint' UNION ALL
           SELECT 'seen', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'urls'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'urls'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'urls_ready' AS name, 'processed, job, id' AS columns, 'processed, job' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'urls'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE urls ADD INDEX urls_ready (processed, job, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
