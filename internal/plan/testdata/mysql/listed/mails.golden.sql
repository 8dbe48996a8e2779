-- Package mailsq uses the table mails as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was recovered and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until the program starts again; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        several values of status mean ready, so that rows are sorted, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: on retry, column "status" gets 'error' as qgen:on says, not 'pending' as qgen:status would
-- note: on release, column "status" gets 'error' as qgen:on says, not 'pending' as qgen:status would
-- note: on recover, column "status" gets 'error' as qgen:on says, not 'pending' as qgen:status would

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: param status string, 2: ahead, 3: param status string, 4: ahead, 5: param status string, 6: limit
SELECT /* mailsq.Claim */
       mails.id, mails.body
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 'pending'
                      AND    status = ?
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 'error'
                      AND    status = ?
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN mails FORCE INDEX (PRIMARY) ON mails.id = candidate.candidate_1
WHERE  mails.status IN ('pending', 'error')
AND    mails.status = ?
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mailsq.Claim */ mails FORCE INDEX (PRIMARY)
SET    status = 'sending'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Complete */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    status = 'sending'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mailsq.Complete */ mails FORCE INDEX (PRIMARY)
SET    status = 'sent'
WHERE  (id IN (?))
AND    status = 'sending';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Fail */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    status = 'sending'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mailsq.Fail */ mails FORCE INDEX (PRIMARY)
SET    status = 'error'
WHERE  (id IN (?))
AND    status = 'sending';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Requeue */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    status = 'sending'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* mailsq.Requeue */ mails FORCE INDEX (PRIMARY)
SET    status = 'error'
WHERE  (id IN (?))
AND    status = 'sending';

-- sql/recover.sql
-- recover: running to ready, when the program starts
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ (
           SELECT id
           FROM   mails
           WHERE  status = 'sending'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id
SET    status = 'error';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ mails
FROM   (
           SELECT id
           FROM   mails
           WHERE  status = 'sent'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* mailsq.Enqueue */ INTO mails
       (body)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body
INSERT /* mailsq.EnqueueMany */ INTO mails
       (body)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* mailsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN status IN ('pending', 'error') THEN 1 END) AS ready,
       count(CASE WHEN status = 'sending' THEN 1 END) AS running,
       count(CASE WHEN status = 'sent' THEN 1 END) AS done
FROM   mails;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same status is for
-- locks: none
-- index: (status, id)
-- arguments: 1: param status string
SELECT /* mailsq.StatsOf */
       count(CASE WHEN status IN ('pending', 'error') THEN 1 END) AS ready,
       count(CASE WHEN status = 'sending' THEN 1 END) AS running,
       count(CASE WHEN status = 'sent' THEN 1 END) AS done
FROM   mails
WHERE  status = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by status
-- locks: none
-- index: (status, id)
SELECT /* mailsq.Backlog */
       status,
       count(*) AS ready
FROM   mails USE INDEX FOR GROUP BY ()
WHERE  status IN ('pending', 'error')
GROUP  BY status
ORDER  BY status;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: param status string, 2: limit, 3: param status string, 4: limit, 5: limit
SELECT /* mailsq.Peek */
       mails.id, mails.body
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 'pending'
                      AND    status = ?
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  status = 'error'
                      AND    status = ?
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN mails FORCE INDEX (PRIMARY) ON mails.id = candidate.candidate_1
ORDER  BY candidate.candidate_1
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'status', 'enum' UNION ALL
           SELECT 'body', 'text'
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
           SELECT 'mails_ready' AS name, 'status, id' AS columns, 'status' AS least
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

-- serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing
ALTER TABLE mails ADD INDEX mails_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
