-- Package backlogq uses the table backlog as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes backoff (Complete, Requeue, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates backlog_ready.
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
-- note: warning: also: fail makes column "next_try" of backoff from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: warning: also: done makes column "last" of backoff from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: warning: also: done makes column "next_try" of backoff from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* backlogq.Claim */
       id, connector, size
FROM   backlog IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Claim */ backlog FORCE INDEX (PRIMARY)
SET    state = 'busy'
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* backlogq.Complete */
       id
FROM   backlog FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete_update_backoff.sql
-- complete: updates rows of backoff for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of backoff one that begins with connector, state
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Complete */ backlog AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN backoff ON backoff.connector = held.connector
                     AND backoff.state = 'open'
SET    backoff.last = (backoff.attempts),
       backoff.next_try = (if(held.state = 'busy', null, backoff.next_try))
WHERE  (held.id IN (?));

-- sql/complete_update_backoff_2.sql
-- complete: updates rows of backoff for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of backoff one that begins with connector, state
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Complete */ backlog AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN backoff ON backoff.connector = held.connector
                     AND backoff.state = 'open'
SET    backoff.state = 'closed',
       backoff.attempts = 0
WHERE  (held.id IN (?));

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Complete */ backlog FORCE INDEX (PRIMARY)
SET    state = 'done'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* backlogq.Fail */
       id
FROM   backlog FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail_update_backoff.sql
-- fail: updates rows of backoff for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of backoff one that begins with connector
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Fail */ backlog AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN backoff ON backoff.connector = held.connector
SET    backoff.next_try = (utc_timestamp() + interval pow(2, backoff.attempts) second)
WHERE  (held.id IN (?));

-- sql/fail_update_backoff_2.sql
-- fail: updates rows of backoff for the rows that fail_lock.sql locked, before fail.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of backoff one that begins with connector
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Fail */ (
           SELECT held.connector AS of_connector,
                  count(*) AS jobs
           FROM   backlog AS held FORCE INDEX (PRIMARY)
           WHERE  (held.id IN (?))
           GROUP  BY held.connector
       ) AS shared
       STRAIGHT_JOIN backoff ON backoff.connector = shared.of_connector
SET    backoff.attempts = (backoff.attempts + shared.jobs);

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Fail */ backlog FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* backlogq.Requeue */
       id
FROM   backlog FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue_update_backoff.sql
-- requeue: updates rows of backoff for the rows that requeue_lock.sql locked, before requeue.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of backoff one that begins with connector
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Requeue */ (
           SELECT held.connector AS of_connector,
                  count(*) AS jobs
           FROM   backlog AS held FORCE INDEX (PRIMARY)
           WHERE  (held.id IN (?))
           GROUP  BY held.connector
       ) AS shared
       STRAIGHT_JOIN backoff ON backoff.connector = shared.of_connector
SET    backoff.attempts = (backoff.attempts + shared.jobs),
       backoff.next_try = UTC_TIMESTAMP(0);

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* backlogq.Requeue */ backlog FORCE INDEX (PRIMARY)
SET    state = 'new'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* backlogq.Redrive */ (
           SELECT id
           FROM   backlog
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN backlog ON backlog.id = picked.id
SET    state = 'new';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* backlogq.Purge */ backlog
FROM   (
           SELECT id
           FROM   backlog
           WHERE  state = 'done'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN backlog ON backlog.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* backlogq.Purge */ backlog
FROM   (
           SELECT id
           FROM   backlog
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN backlog ON backlog.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Connector, 2: new Size
INSERT /* backlogq.Enqueue */ INTO backlog
       (connector, size)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Connector Size
INSERT /* backlogq.EnqueueMany */ INTO backlog
       (connector, size)
VALUES (?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* backlogq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* backlogq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed
FROM   backlog;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* backlogq.Backlog */
       count(*) AS ready
FROM   backlog
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* backlogq.Peek */
       id, connector, size
FROM   backlog IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* backlogq.Verify */
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
SELECT /* backlogq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'connector', 'varchar' UNION ALL
           SELECT 'size', 'int' UNION ALL
           SELECT 'state', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'backlog'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of backoff
-- locks: none
SELECT /* backlogq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'state' AS name, 'varchar' AS type UNION ALL
           SELECT 'attempts', 'int' UNION ALL
           SELECT 'last', 'int' UNION ALL
           SELECT 'next_try', 'datetime' UNION ALL
           SELECT 'connector', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'backoff'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* backlogq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'backlog'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* backlogq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'backlog_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'backlog'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE backlog ADD INDEX backlog_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
