-- Package tasksq uses the table tasks as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready.
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
-- note: no column says when a claim in column "taken" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: warning: also: fail takes rows of other jobs to another state whatever state they are in, also those that others run; a state among where: leaves these alone
-- note: warning: also: fail makes column "state" of tasks from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: warning: also: giveup makes column "state" of tasks from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: no order is said: rows are taken in the order of the key, id
-- note: the fence compares column "taken", which counts whole seconds: two claims within one second look alike
-- note: also: done writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: also: giveup writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Claim */
       id, parent_id, whole, UNIX_TIMESTAMP()
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Taken, 2: list ID
UPDATE /* tasksq.Claim */ tasks FORCE INDEX (PRIMARY)
SET    state = 'busy',
       taken = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* tasksq.Complete */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* tasksq.Complete */ tasks FORCE INDEX (PRIMARY)
SET    state = 'done'
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/complete_update_tasks_lock.sql
-- complete: locks the rows of other jobs that complete_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: list ID, 2: list ID
UPDATE /* tasksq.Complete */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tasks ON tasks.id = held.parent_id
                     AND NOT (tasks.id IN (?))
SET    tasks.state = tasks.state
WHERE  (held.id IN (?))
AND    (tasks.whole)
AND    (tasks.state <> 'done');

-- sql/complete_update_tasks.sql
-- complete: updates rows of tasks for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: list ID, 2: list ID
UPDATE /* tasksq.Complete */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tasks ON tasks.id = held.parent_id
                     AND NOT (tasks.id IN (?))
SET    tasks.state = 'done'
WHERE  (held.id IN (?))
AND    (tasks.whole and tasks.state <> 'done' and not exists (select 1 from (select * from tasks limit 1000000000) s where s.parent_id = held.parent_id and s.state <> 'done'));

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* tasksq.Fail */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* tasksq.Fail */ tasks FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/fail_update_tasks_lock.sql
-- fail: locks the rows of other jobs that fail_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: list ID, 2: list ID
UPDATE /* tasksq.Fail */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tasks ON tasks.id = held.parent_id
                     AND NOT (tasks.id IN (?))
SET    tasks.state = tasks.state
WHERE  (held.id IN (?));

-- sql/fail_update_tasks.sql
-- fail: updates rows of tasks for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: list ID, 2: list ID
UPDATE /* tasksq.Fail */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tasks ON tasks.id = held.parent_id
                     AND NOT (tasks.id IN (?))
SET    tasks.state = (case when exists (select 1 from (select * from tasks limit 1000000000) s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
WHERE  (held.id IN (?));

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* tasksq.Requeue */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* tasksq.Requeue */ tasks FORCE INDEX (PRIMARY)
SET    state = 'new',
       taken = NULL
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
SELECT /* tasksq.Extend */
       id
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Taken
UPDATE /* tasksq.Extend */ tasks FORCE INDEX (PRIMARY)
SET    taken = UNIX_TIMESTAMP()
WHERE  ((id, taken) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* tasksq.Extend */
       id, taken
FROM   tasks FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
SELECT /* tasksq.Recover */
       id
FROM   tasks
WHERE  state = 'busy'
AND    taken <= FLOOR(UNIX_TIMESTAMP() - ?)
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* tasksq.Recover */ tasks FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  (id IN (?))
AND    state = 'busy';

-- sql/recover_failed_update_tasks_lock.sql
-- recover_failed: locks the rows of other jobs that recover_failed_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: list ID, 2: list ID
UPDATE /* tasksq.Recover */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tasks ON tasks.id = held.parent_id
                     AND NOT (tasks.id IN (?))
SET    tasks.state = tasks.state
WHERE  (held.id IN (?));

-- sql/recover_failed_update_tasks.sql
-- recover_failed: updates rows of tasks for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: list ID, 2: list ID
UPDATE /* tasksq.Recover */ tasks AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tasks ON tasks.id = held.parent_id
                     AND NOT (tasks.id IN (?))
SET    tasks.state = (case when exists (select 1 from (select * from tasks limit 1000000000) s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
WHERE  (held.id IN (?));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ (
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id
SET    state = 'new',
       taken = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  state = 'done'
           AND    taken <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ tasks
FROM   (
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           AND    taken <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN tasks ON tasks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new ParentID, 3: new Whole
INSERT /* tasksq.Enqueue */ INTO tasks
       (id, parent_id, whole)
VALUES (?, ?, coalesce(?, false));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID ParentID Whole
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (id, parent_id, whole)
VALUES (?, ?, coalesce(?, false));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* tasksq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND taken <= FLOOR(UNIX_TIMESTAMP() - ?) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN state = 'busy' THEN taken END) AS SIGNED) AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, parent_id, whole
FROM   tasks IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
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
SELECT /* tasksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'parent_id', 'bigint' UNION ALL
           SELECT 'whole', 'tinyint' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'taken', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tasks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'tasks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'tasks_ready' AS name, 'state, id' AS columns, 'state' AS least UNION ALL
           SELECT 'PRIMARY', '', ''
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'tasks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE tasks ADD INDEX tasks_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Claim: the only row of each value that is asked for: PRIMARY serves already
