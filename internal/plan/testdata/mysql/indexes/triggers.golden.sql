-- Package triggersq uses the table triggers as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in scheduler and job and job_kind, one runs at once; a claim locks the row of jobs that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates triggers_ready and triggers_line.
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
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for scheduler and job and job_kind has it read rows of one group alone

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, fire_at, priority DESC, scheduler, name, kind)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* triggersq.Claim */
       scheduler, name, kind
FROM   triggers
WHERE  state = 'WAITING'
AND    fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000)
AND    (SELECT 1
               FROM   triggers AS other
               WHERE  other.scheduler = triggers.scheduler
               AND    other.job = triggers.job
               AND    other.job_kind = triggers.job_kind
               AND    other.state = 'ACQUIRED'
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   triggers AS other
               WHERE  other.scheduler = triggers.scheduler
               AND    other.job = triggers.job
               AND    other.job_kind = triggers.job_kind
               AND    other.state = 'WAITING'
               AND    other.fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000)
               AND    (other.fire_at < triggers.fire_at OR other.fire_at = triggers.fire_at AND (other.priority > triggers.priority OR other.priority = triggers.priority AND (other.name < triggers.name OR other.name = triggers.name AND (other.kind < triggers.kind OR other.kind = triggers.kind AND other.scheduler < triggers.scheduler))))
               LIMIT  1) IS NULL
ORDER  BY fire_at, priority DESC, scheduler, name, kind
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim_group.sql
-- claim: locks the groups of the rows that claim_lock.sql locked
-- locks: the row of jobs for each group, until commit; passes over groups that are locked
-- index: the key; job <=> job always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind
SELECT /* triggersq.Claim */
       scheduler, name, kind
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind) IN ((?, ?, ?)))
AND    (SELECT 1
               FROM   jobs
               WHERE  scheduler = triggers.scheduler and name = triggers.job and kind = triggers.job_kind
               FOR    UPDATE SKIP LOCKED) = 1
AND    job <=> job
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind
SELECT /* triggersq.Claim */
       scheduler, name, kind
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind) IN ((?, ?, ?)))
AND    (SELECT count(*)
               FROM   triggers AS other
               WHERE  other.scheduler = triggers.scheduler
               AND    other.job = triggers.job
               AND    other.job_kind = triggers.job_kind
               AND    other.state = 'ACQUIRED') = 0;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind
UPDATE /* triggersq.Claim */ triggers FORCE INDEX (PRIMARY)
SET    state = 'ACQUIRED',
       till = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((scheduler, name, kind) IN ((?, ?, ?)));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind
SELECT /* triggersq.Claim */
       scheduler, name, kind, job, job_kind, fire_at, priority,
       CAST(UNIX_TIMESTAMP(till) * 1000000 AS SIGNED)
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind) IN ((?, ?, ?)));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind Till
SELECT /* triggersq.Complete */
       scheduler, name, kind
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind Till
UPDATE /* triggersq.Complete */ triggers FORCE INDEX (PRIMARY)
SET    state = 'COMPLETE',
       till = NULL
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind Till
SELECT /* triggersq.Fail */
       scheduler, name, kind
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list Scheduler Name Kind Till
UPDATE /* triggersq.Fail */ triggers FORCE INDEX (PRIMARY)
SET    state = 'WAITING',
       fire_at = FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) + INTERVAL ? SECOND) / 1000),
       till = NULL
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind Till
SELECT /* triggersq.Requeue */
       scheduler, name, kind
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list Scheduler Name Kind Till
UPDATE /* triggersq.Requeue */ triggers FORCE INDEX (PRIMARY)
SET    state = 'WAITING',
       fire_at = CASE WHEN ? > 0.0 THEN FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) + INTERVAL ? SECOND) / 1000) ELSE fire_at END,
       till = NULL
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind Till
SELECT /* triggersq.Extend */
       scheduler, name, kind
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind Till
UPDATE /* triggersq.Extend */ triggers FORCE INDEX (PRIMARY)
SET    till = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((scheduler, name, kind, till) IN ((?, ?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'ACQUIRED';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Scheduler Name Kind
SELECT /* triggersq.Extend */
       scheduler, name, kind, CAST(UNIX_TIMESTAMP(till) * 1000000 AS SIGNED)
FROM   triggers FORCE INDEX (PRIMARY)
WHERE  ((scheduler, name, kind) IN ((?, ?, ?)));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, fire_at, priority DESC, scheduler, name, kind), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* triggersq.Recover */ (
           SELECT scheduler, name, kind
           FROM   triggers
           WHERE  state = 'ACQUIRED'
           AND    till <= NOW(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN triggers ON triggers.scheduler = picked.scheduler
                               AND    triggers.name = picked.name
                               AND    triggers.kind = picked.kind
SET    state = 'WAITING',
       till = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, fire_at, priority DESC, scheduler, name, kind)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* triggersq.Purge */ triggers
FROM   (
           SELECT scheduler, name, kind
           FROM   triggers
           WHERE  state = 'COMPLETE'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN triggers ON triggers.scheduler = picked.scheduler
                               AND    triggers.name = picked.name
                               AND    triggers.kind = picked.kind;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Scheduler, 2: new Name, 3: new Kind, 4: new Job, 5: new JobKind, 6: new FireAt, 7: new Priority
INSERT /* triggersq.Enqueue */ INTO triggers
       (scheduler, name, kind, job, job_kind, state, fire_at, priority)
VALUES (?, ?, ?, ?, ?, 'WAITING',
        coalesce(?, FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000)),
        ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Scheduler Name Kind Job JobKind FireAt Priority
INSERT /* triggersq.EnqueueMany */ INTO triggers
       (scheduler, name, kind, job, job_kind, state, fire_at, priority)
VALUES (?, ?, ?, ?, ?, 'WAITING', coalesce(?, FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000)), ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* triggersq.Stats */
       count(CASE WHEN state = 'WAITING' AND fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) THEN 1 END) AS ready,
       count(CASE WHEN state = 'ACQUIRED' THEN 1 END) AS running,
       count(CASE WHEN state = 'COMPLETE' THEN 1 END) AS done,
       count(CASE WHEN state = 'WAITING' AND fire_at > FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'ACQUIRED' AND till <= NOW(6) THEN 1 END) AS expired,
       (CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) AS SIGNED) - CAST(min(CASE WHEN state = 'WAITING' AND fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) THEN fire_at END) AS SIGNED)) / 1000 AS oldest_ready
FROM   triggers;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, fire_at, priority DESC, scheduler, name, kind)
SELECT /* triggersq.Backlog */
       count(CASE WHEN fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) THEN 1 END) AS ready,
       count(CASE WHEN fire_at > FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) THEN 1 END) AS `delayed`,
       (CAST(FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) AS SIGNED) - CAST(min(CASE WHEN fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000) THEN fire_at END) AS SIGNED)) / 1000 AS oldest_ready
FROM   triggers
WHERE  state = 'WAITING';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, fire_at, priority DESC, scheduler, name, kind)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* triggersq.Peek */
       scheduler, name, kind, job, job_kind, fire_at, priority
FROM   triggers
WHERE  state = 'WAITING'
AND    fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000)
AND    (SELECT 1
               FROM   triggers AS other
               WHERE  other.scheduler = triggers.scheduler
               AND    other.job = triggers.job
               AND    other.job_kind = triggers.job_kind
               AND    other.state = 'ACQUIRED'
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   triggers AS other
               WHERE  other.scheduler = triggers.scheduler
               AND    other.job = triggers.job
               AND    other.job_kind = triggers.job_kind
               AND    other.state = 'WAITING'
               AND    other.fire_at <= FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000)
               AND    (other.fire_at < triggers.fire_at OR other.fire_at = triggers.fire_at AND (other.priority > triggers.priority OR other.priority = triggers.priority AND (other.name < triggers.name OR other.name = triggers.name AND (other.kind < triggers.kind OR other.kind = triggers.kind AND other.scheduler < triggers.scheduler))))
               LIMIT  1) IS NULL
ORDER  BY fire_at, priority DESC, scheduler, name, kind
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* triggersq.Verify */
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
SELECT /* triggersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'scheduler' AS name, 'varchar' AS type UNION ALL
           SELECT 'name', 'varchar' UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'job', 'varchar' UNION ALL
           SELECT 'job_kind', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'fire_at', 'bigint' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'till', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'triggers'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* triggersq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'triggers'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* triggersq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'triggers_ready' AS name, 'state, fire_at, priority desc, scheduler, name, kind' AS columns, 'state, fire_at, priority desc' AS least UNION ALL
           SELECT 'triggers_line', 'scheduler, job, job_kind, state, fire_at, priority desc', 'scheduler, job, job_kind, state, fire_at, priority desc'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'triggers'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE triggers ADD INDEX triggers_ready (state, fire_at, priority DESC, scheduler, name, kind), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Claim: who is before a row in its group, and which of them run; PRIMARY leads to these rows among others: where those are few, decline this one (indexes: {line: false})
ALTER TABLE triggers ADD INDEX triggers_line (scheduler, job, job_kind, state, fire_at, priority DESC), ALGORITHM=INPLACE, LOCK=NONE;
