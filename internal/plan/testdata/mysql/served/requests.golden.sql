-- Package requestsq uses the table requests as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
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
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  not needed: token comes first
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: rows without a value in column "leased_till" stand first in the order, where MySQL puts nulls (nulls=last puts them last)
-- note: rows without a value in column "leased_by" stand first in the order, where MySQL puts nulls (nulls=last puts them last)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: requests_lease (leased_till, leased_by)
-- isolation: read committed
-- arguments: 1: limit, 2: token LeasedBy
UPDATE /* requestsq.Claim */ (
           SELECT client, flow
           FROM   requests FORCE INDEX (requests_lease)
           WHERE  (leased_till <= NOW(6) OR leased_till IS NULL)
           ORDER  BY leased_till, leased_by, client, flow
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN requests ON requests.client = picked.client
                               AND    requests.flow = picked.flow
SET    leased_till = GREATEST(NOW(6) + INTERVAL 600 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 600 SECOND, '+00:00', @@time_zone)),
       leased_by = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: requests_lease (leased_till, leased_by); it reads others as well
-- isolation: read committed
-- arguments: 1: token LeasedBy
SELECT /* requestsq.Claim */
       client, flow, CAST(UNIX_TIMESTAMP(leased_till) * 1000000 AS SIGNED), leased_by
FROM   requests
WHERE  leased_by = ?
AND    leased_till IS NOT NULL
AND    leased_till > NOW(6);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: leased_by as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
SELECT /* requestsq.Complete */
       client, flow
FROM   requests FORCE INDEX (PRIMARY)
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: leased_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
DELETE /* requestsq.Complete */ requests
FROM   requests FORCE INDEX (PRIMARY)
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: leased_by as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
SELECT /* requestsq.Fail */
       client, flow
FROM   requests FORCE INDEX (PRIMARY)
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: leased_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
UPDATE /* requestsq.Fail */ requests FORCE INDEX (PRIMARY)
SET    leased_till = NULL,
       leased_by = NULL
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: leased_by as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
SELECT /* requestsq.Requeue */
       client, flow
FROM   requests FORCE INDEX (PRIMARY)
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: leased_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
UPDATE /* requestsq.Requeue */ requests FORCE INDEX (PRIMARY)
SET    leased_till = NULL,
       leased_by = NULL
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: leased_by as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
SELECT /* requestsq.Extend */
       client, flow
FROM   requests FORCE INDEX (PRIMARY)
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: leased_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow LeasedBy
UPDATE /* requestsq.Extend */ requests FORCE INDEX (PRIMARY)
SET    leased_till = GREATEST(NOW(6) + INTERVAL 600 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 600 SECOND, '+00:00', @@time_zone))
WHERE  ((client, flow, leased_by) IN ((?, ?, ?)))
AND    leased_till IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Client Flow
SELECT /* requestsq.Extend */
       client, flow, CAST(UNIX_TIMESTAMP(leased_till) * 1000000 AS SIGNED)
FROM   requests FORCE INDEX (PRIMARY)
WHERE  ((client, flow) IN ((?, ?)));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Client, 2: new Flow
INSERT /* requestsq.Enqueue */ INTO requests
       (client, flow)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Client Flow
INSERT /* requestsq.EnqueueMany */ INTO requests
       (client, flow)
VALUES (?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* requestsq.Stats */
       count(CASE WHEN (leased_till <= NOW(6) OR leased_till IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN leased_till IS NOT NULL AND leased_till > NOW(6) THEN 1 END) AS running,
       count(CASE WHEN leased_till IS NOT NULL AND leased_till <= NOW(6) THEN 1 END) AS expired
FROM   requests;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: requests_lease (leased_till, leased_by)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* requestsq.Peek */
       client, flow
FROM   requests FORCE INDEX (requests_lease)
WHERE  (leased_till <= NOW(6) OR leased_till IS NULL)
ORDER  BY leased_till, leased_by, client, flow
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* requestsq.Verify */
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
SELECT /* requestsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'client' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'flow', 'bigint unsigned' UNION ALL
           SELECT 'leased_till', 'timestamp' UNION ALL
           SELECT 'leased_by', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'requests'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* requestsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'requests'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* requestsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'requests_lease' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'requests'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; it also serves Claim: reads back the rows that the token marks, among those that somebody has, which are few: requests_lease serves already
