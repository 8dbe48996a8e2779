-- Package mailsq uses the table mails as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        no column can hold the key of a batch, by which a block reads it back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: no order is said: rows are taken in the order of the key, tenant, message
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where (exists (select 1 from tenants t where t.id = {new}.tenant and t.active = 1)), and locks nothing that this reads: it may have changed when the job is there
-- note: enqueue=absent leaves a job out where a row is like it in tenant, message (primary key)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (tenant, message)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Claim */
       tenant, message, body, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR)
FROM   mails FORCE INDEX (`PRIMARY`)
WHERE  (till <= UTC_TIMESTAMP(6) OR till IS NULL)
ORDER  BY tenant, message
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list Tenant Message
UPDATE /* mailsq.Claim */ mails FORCE INDEX (PRIMARY)
SET    till = ?
WHERE  ((tenant = ? AND message = ?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
SELECT /* mailsq.Complete */
       tenant, message
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
DELETE /* mailsq.Complete */ mails
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
SELECT /* mailsq.Fail */
       tenant, message
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
DELETE /* mailsq.Fail */ mails
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
SELECT /* mailsq.Requeue */
       tenant, message
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
UPDATE /* mailsq.Requeue */ mails FORCE INDEX (PRIMARY)
SET    till = NULL
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
SELECT /* mailsq.Extend */
       tenant, message
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message Till
UPDATE /* mailsq.Extend */ mails FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((tenant = ? AND message = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Tenant Message
SELECT /* mailsq.Extend */
       tenant, message, CAST(till AS CHAR)
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((tenant = ? AND message = ?));

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none, unless a row stands in its way by a unique key: then it fails with the error of that key, which is told from others
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- index: whichever finds the rows of enqueue_if
-- isolation: read committed
-- arguments: 1: new Tenant, 2: new Message, 3: new Body, 4: new Tenant
INSERT /* mailsq.Enqueue */ INTO mails
       (tenant, message, body)
SELECT ?, ?, ?
FROM   DUAL
WHERE  (exists (select 1 from tenants t where t.id = ? and t.active = 1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN (till <= UTC_TIMESTAMP(6) OR till IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN till IS NOT NULL AND till > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN till IS NOT NULL AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (tenant, message)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       tenant, message, body
FROM   mails FORCE INDEX (`PRIMARY`)
WHERE  (till <= UTC_TIMESTAMP(6) OR till IS NULL)
ORDER  BY tenant, message
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'tenant' AS name, 'int' AS type UNION ALL
           SELECT 'message', 'varchar' UNION ALL
           SELECT 'body', 'varchar' UNION ALL
           SELECT 'till', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'mails'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'mails'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'mails'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
