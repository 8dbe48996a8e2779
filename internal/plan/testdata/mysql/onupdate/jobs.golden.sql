-- Package jobsq uses the table jobs as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
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
-- note: times of column "taken" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: times of column "added" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: the database would write column "taken" at every change of a row; a step that does not write it sets it to what it is
-- note: the database would write column "added" at every change of a row; a step that does not write it sets it to what it is
-- note: warning: a running row whose beat is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, added, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Claim */
       id
FROM   jobs
WHERE  state = 'new'
ORDER  BY added, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to claimed, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* jobsq.Claim */ jobs FORCE INDEX (PRIMARY)
SET    state = 'held',
       tries = tries + 1,
       taken = NOW(6),
       beat = UTC_TIMESTAMP(6),
       added = added
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* jobsq.Claim */
       id, tries, CAST(UNIX_TIMESTAMP(taken) * 1000000 AS SIGNED),
       CAST(UNIX_TIMESTAMP(added) * 1000000 AS SIGNED),
       CAST(UNIX_TIMESTAMP(touched) * 1000000 AS SIGNED), body
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- fence: tries, taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
SELECT /* jobsq.Start */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'held'
FOR    UPDATE;

-- sql/start.sql
-- start: claimed to running
-- fence: tries, taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
UPDATE /* jobsq.Start */ jobs FORCE INDEX (PRIMARY)
SET    state = 'busy',
       taken = taken,
       added = added
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'held';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries, taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
SELECT /* jobsq.Complete */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy')
FOR    UPDATE;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: tries, taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
UPDATE /* jobsq.Complete */ jobs FORCE INDEX (PRIMARY)
SET    state = 'done',
       taken = taken,
       added = added
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy');

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries, taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy')
FOR    UPDATE;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: tries, taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    state = 'new',
       taken = taken,
       added = added
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy');

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries, taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy')
FOR    UPDATE;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: tries, taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    state = 'failed',
       taken = taken,
       added = added
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy');

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries, taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
SELECT /* jobsq.Requeue */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy')
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: tries, taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
UPDATE /* jobsq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    state = 'new',
       tries = tries - 1,
       taken = taken,
       added = added
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy');

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: tries, taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
SELECT /* jobsq.Extend */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy')
FOR    UPDATE;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: tries, taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries Taken
UPDATE /* jobsq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    beat = UTC_TIMESTAMP(6),
       taken = taken,
       added = added
WHERE  ((id, tries, taken) IN ((?, ?, FROM_UNIXTIME(? * 0.000001))))
AND    state IN ('held', 'busy');

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, added, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  state IN ('held', 'busy')
           AND    tries < 5
           AND    beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    state = 'new',
       taken = jobs.taken,
       added = jobs.added;

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, added, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  state IN ('held', 'busy')
           AND    tries >= 5
           AND    beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    state = 'failed',
       taken = jobs.taken,
       added = jobs.added;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, added, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    state = 'new',
       tries = 0,
       taken = jobs.taken,
       added = jobs.added;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, added, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT id
           FROM   jobs
           WHERE  state = 'done'
           AND    taken <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, added, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           AND    taken <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Touched, 2: new Body
INSERT /* jobsq.Enqueue */ INTO jobs
       (state, added, touched, body)
VALUES ('new', NOW(0), coalesce(FROM_UNIXTIME(? * 0.000001), CURRENT_TIMESTAMP), ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Touched Body
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (state, added, touched, body)
VALUES ('new', NOW(0), coalesce(FROM_UNIXTIME(? * 0.000001), CURRENT_TIMESTAMP), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* jobsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'held' THEN 1 END) AS claimed,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state IN ('held', 'busy') AND beat <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'new' THEN added END), NOW(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state IN ('held', 'busy') THEN taken END), NOW(6)) / 1000000 AS oldest_running,
       avg(CASE WHEN state = 'done' THEN TIMESTAMPDIFF(MICROSECOND, added, taken) / 1000000 END) AS mean_wait
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, added, id)
SELECT /* jobsq.Backlog */
       count(*) AS ready,
       TIMESTAMPDIFF(MICROSECOND, min(added), NOW(6)) / 1000000 AS oldest_ready
FROM   jobs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, added, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, tries, CAST(UNIX_TIMESTAMP(taken) * 1000000 AS SIGNED),
       CAST(UNIX_TIMESTAMP(added) * 1000000 AS SIGNED),
       CAST(UNIX_TIMESTAMP(touched) * 1000000 AS SIGNED), body
FROM   jobs
WHERE  state = 'new'
ORDER  BY added, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
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
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'taken', 'timestamp' UNION ALL
           SELECT 'beat', 'datetime' UNION ALL
           SELECT 'added', 'timestamp' UNION ALL
           SELECT 'touched', 'timestamp' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* jobsq.Verify */
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
SELECT /* jobsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_ready' AS name, 'state, added, id' AS columns, 'state, added' AS least
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE jobs ADD INDEX jobs_ready (state, added, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
