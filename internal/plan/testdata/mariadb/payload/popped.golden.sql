-- Package poppedq uses the table jobs as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
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
-- note: a claim deletes the rows it takes (strategy=pop), since the status has no done=: done=… or done:=… there keeps them, done=delete on qgen:queue says that they go
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "id"

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* poppedq.Claim */
       id, token, CAST(lease_till AS CHAR), body_id
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'ready'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key; status <=> status always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* poppedq.Claim */ jobs
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    status <=> status;

-- sql/payload.sql
-- payload: what claimed jobs have in bodies, heads
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* poppedq.Payload */
       jobs.id, b.body, b.status, b.raw, CAST(b.made AS CHAR), heads.subject
FROM   jobs FORCE INDEX (PRIMARY)
       LEFT JOIN bodies b
       ON  (b.id = jobs.body_id)
       LEFT JOIN heads
       ON  (heads.body_id = jobs.body_id)
WHERE  (jobs.id = ?);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Token, 2: new LeaseTill, 3: new BodyID
INSERT /* poppedq.Enqueue */ INTO jobs
       (token, lease_till, body_id)
VALUES (?, ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Token LeaseTill BodyID
INSERT /* poppedq.EnqueueMany */ INTO jobs
       (token, lease_till, body_id)
VALUES (?, ?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* poppedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (status, id)
SELECT /* poppedq.Stats */
       count(*) AS ready
FROM   jobs
WHERE  status = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* poppedq.Peek */
       id, token, CAST(lease_till AS CHAR), body_id
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'ready'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* poppedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* poppedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'token', 'varchar' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'body_id', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of bodies
-- locks: none
SELECT /* poppedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'body' AS name, 'longtext' AS type UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'raw', 'blob' UNION ALL
           SELECT 'made', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'bodies'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_payload2.sql
-- verify: columns of heads
-- locks: none
SELECT /* poppedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'subject' AS name, 'text' AS type
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'heads'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* poppedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'jobs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* poppedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_ready' AS name, 'status, id' AS columns, 'status' AS least
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

-- serves Claim: ready rows in queue order, so that nothing is sorted
-- jobsq advises the same
ALTER TABLE jobs ADD INDEX jobs_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
