-- Package files105q uses the tables files and files_acquired as a queue of jobs on MariaDB 10.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (files_failed)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (files_failed), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes files_failed (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates files_acquired_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"; order 1 at column "not_before" takes them by their time, and reads none that wait for theirs

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then moves
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* files105q.Claim */
       id
FROM   files FORCE INDEX (`PRIMARY`)
WHERE  (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* files105q.Claim */
       id
FROM   files FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL)
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, a row of files_acquired for each of the rows that claim_lock.sql locked
-- locks: the rows it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker AcquiredBy, 2: token Mark, 3: list ID
INSERT /* files105q.Claim */ INTO files_acquired
       (id, path, size, tries, not_before, problem, acquired_by, acquired_at, lease_till,
        mark)
SELECT held.id, held.path, held.size, held.tries + 1, held.not_before, held.problem, ?,
       UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, ?
FROM   files AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* files105q.Claim */
       id, path, size, tries, CAST(not_before AS CHAR), problem, CAST(acquired_at AS CHAR),
       CAST(lease_till AS CHAR), mark
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to files_acquired
-- locks: the rows it deletes, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* files105q.Claim */ files
FROM   files FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    path <=> path;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* files105q.Complete */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* files105q.Complete */ files_acquired
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* files105q.Fail */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path
FOR    UPDATE;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to files before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list ID Mark
INSERT /* files105q.Fail */ INTO files
       (id, path, size, tries, not_before, problem)
SELECT held.id, held.path, held.size, held.tries, UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       ?
FROM   files_acquired AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.mark = ?));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* files105q.Fail */ files_acquired
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* files105q.Fail */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path
FOR    UPDATE;

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to files_failed before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Mark
INSERT /* files105q.Fail */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, ?
FROM   files_acquired AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.mark = ?));

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* files105q.Fail */ files_acquired
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* files105q.Requeue */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path
FOR    UPDATE;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to files before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Mark
INSERT /* files105q.Requeue */ INTO files
       (id, path, size, tries, not_before, problem)
SELECT held.id, held.path, held.size, held.tries - 1,
       CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE held.not_before END,
       held.problem
FROM   files_acquired AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.mark = ?));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
DELETE /* files105q.Requeue */ files_acquired
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; path <=> path always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Mark
SELECT /* files105q.Extend */
       id
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND mark = ?))
AND    path <=> path
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Mark
UPDATE /* files105q.Extend */ files_acquired FORCE INDEX (PRIMARY)
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND mark = ?));

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* files105q.Extend */
       id, CAST(lease_till AS CHAR)
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (lease_till)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* files105q.Recover */
       id
FROM   files_acquired
WHERE  tries < 5
AND    lease_till <= UTC_TIMESTAMP(6)
LIMIT  ?
FOR    UPDATE;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to files before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* files105q.Recover */ INTO files
       (id, path, size, tries, not_before, problem)
SELECT held.id, held.path, held.size, held.tries, held.not_before, held.problem
FROM   files_acquired AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* files105q.Recover */ files_acquired
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    tries < 5;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (lease_till)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* files105q.Recover */
       id
FROM   files_acquired
WHERE  tries >= 5
AND    lease_till <= UTC_TIMESTAMP(6)
LIMIT  ?
FOR    UPDATE;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to files_failed before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* files105q.Recover */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, 'the claim ran out'
FROM   files_acquired AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* files105q.Recover */ files_acquired
FROM   files_acquired FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    tries >= 5;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Path, 2: new Size, 3: new NotBefore
INSERT /* files105q.Enqueue */ INTO files
       (path, size, not_before)
VALUES (?, coalesce(?, 0), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Path Size NotBefore
INSERT /* files105q.EnqueueMany */ INTO files
       (path, size, not_before)
VALUES (?, coalesce(?, 0), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* files105q.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* files105q.Stats */
       ready,
       `delayed`,
       oldest_ready,
       running,
       expired,
       oldest_running
FROM   (
           SELECT count(CASE WHEN (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN 1 END) AS ready,
                  count(CASE WHEN not_before > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
                  TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL) THEN not_before END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(CASE WHEN lease_till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
                  TIMESTAMPDIFF(MICROSECOND, min(acquired_at), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* files105q.Peek */
       id, path, size, tries, CAST(not_before AS CHAR), problem
FROM   files FORCE INDEX (`PRIMARY`)
WHERE  (not_before <= UTC_TIMESTAMP(6) OR not_before IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* files105q.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100500;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* files105q.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'path', 'varchar' UNION ALL
           SELECT 'size', 'bigint' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'not_before', 'datetime' UNION ALL
           SELECT 'problem', 'text' UNION ALL
           SELECT 'acquired_by', 'varchar' UNION ALL
           SELECT 'acquired_at', 'datetime' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'mark', 'char'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'files_acquired'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of files_failed
-- locks: none
SELECT /* files105q.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'path', 'varchar' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'problem', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'files_failed'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_ready.sql
-- verify: columns of files
-- locks: none
SELECT /* files105q.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'path', 'varchar' UNION ALL
           SELECT 'size', 'bigint' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'not_before', 'datetime' UNION ALL
           SELECT 'problem', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'files'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_kind_ready.sql
-- verify: kind of files
-- locks: none
SELECT /* files105q.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'files'
AND    have.engine <> 'InnoDB';

-- sql/verify_index_ready.sql
-- verify: index of files
-- locks: none
SELECT /* files105q.Verify */
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
                      AND    table_name = 'files'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* files105q.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'files_acquired'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* files105q.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'files_acquired_expired' AS name, 'lease_till' AS columns, 'lease_till' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'files_acquired'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PRIMARY serves already

-- serves Recover: claims that ran out
-- filesq advises the same
ALTER TABLE files_acquired ADD INDEX files_acquired_expired (lease_till), ALGORITHM=INPLACE, LOCK=NONE;
