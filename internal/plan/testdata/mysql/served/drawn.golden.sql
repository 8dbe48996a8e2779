-- Package drawnq uses the table descriptors as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and its recoveries are spent
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those whose recoveries are spent failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates descriptors_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no index can give this order, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: warning: a running row whose beat is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, kind, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param kind string, 2: ahead, 3: param kind string, 4: limit
SELECT /* drawnq.Claim */
       descriptors.id
FROM   (
           SELECT id AS candidate_1, RAND() AS candidate_2
           FROM   descriptors
           WHERE  state IN ('New', 'Waiting')
           AND    worker IS NULL
           AND    kind = ?
           ORDER  BY candidate_2
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN descriptors FORCE INDEX (PRIMARY) ON descriptors.id = candidate.candidate_1
WHERE  descriptors.state IN ('New', 'Waiting')
AND    descriptors.worker IS NULL
AND    descriptors.kind = ?
ORDER  BY candidate.candidate_2
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token Worker, 2: list ID
UPDATE /* drawnq.Claim */ descriptors FORCE INDEX (PRIMARY)
SET    state = 'Running',
       worker = ?,
       beat = UTC_TIMESTAMP(0)
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* drawnq.Claim */
       id, kind, worker, resets
FROM   descriptors FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
SELECT /* drawnq.Complete */
       id
FROM   descriptors FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
UPDATE /* drawnq.Complete */ descriptors FORCE INDEX (PRIMARY)
SET    state = 'Complete'
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
SELECT /* drawnq.Fail */
       id
FROM   descriptors FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
UPDATE /* drawnq.Fail */ descriptors FORCE INDEX (PRIMARY)
SET    state = 'Broken',
       worker = NULL
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
SELECT /* drawnq.Requeue */
       id
FROM   descriptors FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
UPDATE /* drawnq.Requeue */ descriptors FORCE INDEX (PRIMARY)
SET    state = 'New',
       worker = NULL
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: worker as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
SELECT /* drawnq.Extend */
       id
FROM   descriptors FORCE INDEX (PRIMARY)
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Worker
UPDATE /* drawnq.Extend */ descriptors FORCE INDEX (PRIMARY)
SET    beat = UTC_TIMESTAMP(0)
WHERE  ((id, worker) IN ((?, ?)))
AND    state = 'Running';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* drawnq.Recover */ (
           SELECT id
           FROM   descriptors
           WHERE  state = 'Running'
           AND    resets < 3
           AND    beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN descriptors ON descriptors.id = picked.id
SET    state = 'New',
       worker = NULL,
       resets = descriptors.resets + 1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim, whose recoveries are spent, to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* drawnq.Recover */ (
           SELECT id
           FROM   descriptors
           WHERE  state = 'Running'
           AND    resets >= 3
           AND    beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN descriptors ON descriptors.id = picked.id
SET    state = 'Broken',
       worker = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* drawnq.Redrive */ (
           SELECT id
           FROM   descriptors
           WHERE  state = 'Broken'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN descriptors ON descriptors.id = picked.id
SET    state = 'New',
       worker = NULL,
       resets = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* drawnq.Purge */ descriptors
FROM   (
           SELECT id
           FROM   descriptors
           WHERE  state = 'Complete'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN descriptors ON descriptors.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* drawnq.Purge */ descriptors
FROM   (
           SELECT id
           FROM   descriptors
           WHERE  state = 'Broken'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN descriptors ON descriptors.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind
INSERT /* drawnq.Enqueue */ INTO descriptors
       (state, kind)
VALUES ('New', ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Kind
INSERT /* drawnq.EnqueueMany */ INTO descriptors
       (state, kind)
VALUES ('New', ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* drawnq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* drawnq.Stats */
       count(CASE WHEN state IN ('New', 'Waiting') AND worker IS NULL THEN 1 END) AS ready,
       count(CASE WHEN state = 'Running' THEN 1 END) AS running,
       count(CASE WHEN state = 'Complete' THEN 1 END) AS done,
       count(CASE WHEN state = 'Broken' THEN 1 END) AS failed,
       count(CASE WHEN state = 'Running' AND beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired
FROM   descriptors;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* drawnq.StatsOf */
       count(CASE WHEN state IN ('New', 'Waiting') AND worker IS NULL THEN 1 END) AS ready,
       count(CASE WHEN state = 'Running' THEN 1 END) AS running,
       count(CASE WHEN state = 'Complete' THEN 1 END) AS done,
       count(CASE WHEN state = 'Broken' THEN 1 END) AS failed,
       count(CASE WHEN state = 'Running' AND beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired
FROM   descriptors
WHERE  kind = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (state, kind, id); it reads others as well
SELECT /* drawnq.Backlog */
       kind,
       count(*) AS ready
FROM   descriptors
WHERE  state IN ('New', 'Waiting')
AND    worker IS NULL
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, kind, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* drawnq.Peek */
       id, kind, resets
FROM   descriptors
WHERE  state IN ('New', 'Waiting')
AND    worker IS NULL
AND    kind = ?
ORDER  BY RAND()
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* drawnq.Verify */
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
SELECT /* drawnq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'worker', 'varchar' UNION ALL
           SELECT 'beat', 'datetime' UNION ALL
           SELECT 'resets', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'descriptors'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* drawnq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'descriptors'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* drawnq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'descriptors_ready' AS name, 'state, kind, id' AS columns, 'state, kind' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'descriptors'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those; it also serves Recover: rows that somebody has, which are few
-- descriptorsq advises the same
ALTER TABLE descriptors ADD INDEX descriptors_ready (state, kind, id), ALGORITHM=INPLACE, LOCK=NONE;
