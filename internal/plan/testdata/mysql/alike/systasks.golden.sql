-- Package systasksq uses the table systasks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates systasks_ready and systasks_like.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in kind, target, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* systasksq.Claim */
       id, kind, target, CAST(UTC_TIMESTAMP(6) AS CHAR)
FROM   systasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'TODO'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Since, 2: list ID
UPDATE /* systasksq.Claim */ systasks FORCE INDEX (PRIMARY)
SET    status = 'WIP',
       since = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* systasksq.Complete */
       id
FROM   systasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* systasksq.Complete */ systasks FORCE INDEX (PRIMARY)
SET    status = 'DONE'
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* systasksq.Fail */
       id
FROM   systasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* systasksq.Fail */ systasks FORCE INDEX (PRIMARY)
SET    status = 'ERROR'
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* systasksq.Requeue */
       id
FROM   systasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* systasksq.Requeue */ systasks FORCE INDEX (PRIMARY)
SET    status = 'TODO',
       since = NULL
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
SELECT /* systasksq.Extend */
       id
FROM   systasks FORCE INDEX (PRIMARY)
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since
UPDATE /* systasksq.Extend */ systasks FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(6)
WHERE  ((id, since) IN ((?, ?)))
AND    status = 'WIP';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* systasksq.Extend */
       id, CAST(since AS CHAR)
FROM   systasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* systasksq.Recover */ (
           SELECT id
           FROM   systasks
           WHERE  status = 'WIP'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN systasks ON systasks.id = picked.id
SET    status = 'TODO',
       since = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* systasksq.Redrive */ (
           SELECT id
           FROM   systasks
           WHERE  status = 'ERROR'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN systasks ON systasks.id = picked.id
SET    status = 'TODO',
       since = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* systasksq.Purge */ systasks
FROM   (
           SELECT id
           FROM   systasks
           WHERE  status = 'DONE'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN systasks ON systasks.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* systasksq.Purge */ systasks
FROM   (
           SELECT id
           FROM   systasks
           WHERE  status = 'ERROR'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN systasks ON systasks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in kind, target, of those that are ready: then it adds none
-- locks: the new row, until commit; what it reads to see that no row is like it, for reading
-- index: (kind, target)
-- isolation: repeatable read
-- arguments: 1: new Kind, 2: new Target, 3: new Kind, 4: new Target
INSERT /* systasksq.Enqueue */ INTO systasks
       (kind, target)
SELECT ?, ?
FROM   DUAL
WHERE  NOT EXISTS (
           SELECT 1
           FROM   systasks
           WHERE  kind = ?
           AND    target <=> ?
           AND    status = 'TODO');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* systasksq.Stats */
       count(CASE WHEN status = 'TODO' THEN 1 END) AS ready,
       count(CASE WHEN status = 'WIP' THEN 1 END) AS running,
       count(CASE WHEN status = 'DONE' THEN 1 END) AS done,
       count(CASE WHEN status = 'ERROR' THEN 1 END) AS failed,
       count(CASE WHEN status = 'WIP' AND since <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 'WIP' THEN since END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   systasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
SELECT /* systasksq.Backlog */
       count(*) AS ready
FROM   systasks
WHERE  status = 'TODO';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* systasksq.Peek */
       id, kind, target
FROM   systasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'TODO'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* systasksq.Verify */
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
SELECT /* systasksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'target', 'int' UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'since', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'systasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* systasksq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'systasks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* systasksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'systasks_ready' AS name, 'status, id' AS columns, 'status' AS least UNION ALL
           SELECT 'systasks_like', 'kind, target', 'kind, target'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'systasks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE systasks ADD INDEX systasks_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Enqueue: the rows that are like a new job; systasks_kind leads to these rows among others: where those are few, decline this one (indexes: {like: false})
ALTER TABLE systasks ADD INDEX systasks_like (kind, target), ALGORITHM=INPLACE, LOCK=NONE;
