-- Package rendersq uses the table renders as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates renders_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Claim */
       id, site, scene, memory_mb, urgency, tries
FROM   renders
WHERE  state = 'N'
AND    site = ?
ORDER  BY urgency DESC, id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries, 2: param site string
SELECT /* rendersq.Claim */
       id
FROM   renders FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 'N'
AND    site = ?
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Node, 2: list ID
UPDATE /* rendersq.Claim */ renders FORCE INDEX (PRIMARY)
SET    state = 'A',
       tries = tries + 1,
       until_at = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       node = ?
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* rendersq.Claim */
       id, site, scene, memory_mb, urgency, tries, CAST(until_at AS CHAR), node
FROM   renders FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries, node as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
SELECT /* rendersq.Complete */
       id
FROM   renders FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
UPDATE /* rendersq.Complete */ renders FORCE INDEX (PRIMARY)
SET    state = 'D',
       until_at = NULL
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries, node as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
SELECT /* rendersq.Fail */
       id
FROM   renders FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
UPDATE /* rendersq.Fail */ renders FORCE INDEX (PRIMARY)
SET    state = 'N',
       until_at = NULL,
       node = NULL
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries, node as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
SELECT /* rendersq.Fail */
       id
FROM   renders FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
UPDATE /* rendersq.Fail */ renders FORCE INDEX (PRIMARY)
SET    state = 'E',
       until_at = NULL
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries, node as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
SELECT /* rendersq.Requeue */
       id
FROM   renders FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
UPDATE /* rendersq.Requeue */ renders FORCE INDEX (PRIMARY)
SET    state = 'N',
       tries = tries - 1,
       until_at = NULL,
       node = NULL
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: tries, node as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
SELECT /* rendersq.Extend */
       id
FROM   renders FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Node
UPDATE /* rendersq.Extend */ renders FORCE INDEX (PRIMARY)
SET    until_at = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND tries = ? AND node = ?))
AND    state = 'A';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* rendersq.Extend */
       id, CAST(until_at AS CHAR)
FROM   renders FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ (
           SELECT id
           FROM   renders
           WHERE  state = 'A'
           AND    tries < 5
           AND    until_at <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN renders ON renders.id = picked.id
SET    state = 'N',
       until_at = NULL,
       node = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ (
           SELECT id
           FROM   renders
           WHERE  state = 'A'
           AND    tries >= 5
           AND    until_at <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN renders ON renders.id = picked.id
SET    state = 'E',
       until_at = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* rendersq.Redrive */ (
           SELECT id
           FROM   renders
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN renders ON renders.id = picked.id
SET    state = 'N',
       tries = 0,
       until_at = NULL,
       node = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* rendersq.Purge */ renders
FROM   (
           SELECT id
           FROM   renders
           WHERE  state = 'D'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN renders ON renders.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* rendersq.Purge */ renders
FROM   (
           SELECT id
           FROM   renders
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN renders ON renders.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new Scene, 3: new MemoryMb, 4: new Urgency
INSERT /* rendersq.Enqueue */ INTO renders
       (site, scene, memory_mb, urgency)
VALUES (?, ?, ?, coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Site Scene MemoryMb Urgency
INSERT /* rendersq.EnqueueMany */ INTO renders
       (site, scene, memory_mb, urgency)
VALUES (?, ?, ?, coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* rendersq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* rendersq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'A' AND until_at <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   renders;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same site is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param site string
SELECT /* rendersq.StatsOf */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'A' AND until_at <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   renders
WHERE  site = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by site
-- locks: none
-- index: (state, site, urgency DESC, id)
SELECT /* rendersq.Backlog */
       site,
       count(*) AS ready
FROM   renders
WHERE  state = 'N'
GROUP  BY site
ORDER  BY site;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Peek */
       id, site, scene, memory_mb, urgency, tries
FROM   renders
WHERE  state = 'N'
AND    site = ?
ORDER  BY urgency DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* rendersq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* rendersq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'site', 'varchar' UNION ALL
           SELECT 'scene', 'varchar' UNION ALL
           SELECT 'memory_mb', 'int' UNION ALL
           SELECT 'urgency', 'int' UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'until_at', 'datetime' UNION ALL
           SELECT 'node', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'renders'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* rendersq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'renders'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* rendersq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'renders_ready' AS name, 'state, site, urgency desc, id' AS columns, 'state, site, urgency desc' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'renders'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order from MariaDB 10.8 on; before that no index keeps a falling order, and they are sorted; it also serves Recover: rows that somebody has, which are few
ALTER TABLE renders ADD INDEX renders_ready (state, site, urgency DESC, id), ALGORITHM=INPLACE, LOCK=NONE;
