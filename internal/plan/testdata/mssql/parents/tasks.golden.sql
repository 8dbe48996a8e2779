-- Package tasksq uses the table tasks as a queue of jobs on SQL Server 2019 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
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
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        SQL Server has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     SQL Server has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no column says when a claim in column "taken" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: warning: also: fail takes rows of other jobs to another state whatever state they are in, also those that others run; a state among where: leaves these alone
-- note: warning: also: fail makes column "state" of tasks from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: warning: also: giveup makes column "state" of tasks from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: no order is said: rows are taken in the order of the key, id
-- note: also: done writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: also: giveup writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* tasksq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, parent_id, whole, state, taken
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY id
)
UPDATE picked
SET    state = 'busy',
       taken = SYSUTCDATETIME()
OUTPUT inserted.id, inserted.parent_id, inserted.whole,
       CONVERT(varchar(27), inserted.taken, 126);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Taken
SELECT /* tasksq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           taken_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  taken = CONVERT(datetime2, taken_held, 126)
AND    state = 'busy';

-- sql/complete.sql
-- complete: running to done
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Taken
UPDATE /* tasksq.Complete */ tasks
SET    state = 'done'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           taken_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  taken = CONVERT(datetime2, taken_held, 126)
AND    state = 'busy';

-- sql/complete_update_tasks_lock.sql
-- complete: locks the rows of other jobs that complete_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Complete */ tasks
SET    state = tasks.state
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tasks AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tasks
       ON  tasks.id = held.parent_id
       AND tasks.whole = 1
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (id_held bigint '$[0]') AS job WHERE tasks.id = id_held)
WHERE  (tasks.state <> 'done');

-- sql/complete_update_tasks.sql
-- complete: updates rows of tasks for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Complete */ tasks
SET    state = 'done'
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tasks AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tasks
       ON  tasks.id = held.parent_id
       AND tasks.whole = 1
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (id_held bigint '$[0]') AS job WHERE tasks.id = id_held)
WHERE  (tasks.state <> 'done' and not exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'done'));

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Taken
SELECT /* tasksq.Fail */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           taken_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  taken = CONVERT(datetime2, taken_held, 126)
AND    state = 'busy';

-- sql/fail.sql
-- fail: running to failed
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Taken
UPDATE /* tasksq.Fail */ tasks
SET    state = 'failed'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           taken_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  taken = CONVERT(datetime2, taken_held, 126)
AND    state = 'busy';

-- sql/fail_update_tasks_lock.sql
-- fail: locks the rows of other jobs that fail_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Fail */ tasks
SET    state = tasks.state
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tasks AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tasks
       ON  tasks.id = held.parent_id
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (id_held bigint '$[0]') AS job WHERE tasks.id = id_held);

-- sql/fail_update_tasks.sql
-- fail: updates rows of tasks for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Fail */ tasks
SET    state = (case when exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tasks AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tasks
       ON  tasks.id = held.parent_id
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (id_held bigint '$[0]') AS job WHERE tasks.id = id_held);

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Taken
UPDATE /* tasksq.Requeue */ tasks
SET    state = 'new',
       taken = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           taken_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  taken = CONVERT(datetime2, taken_held, 126)
AND    state = 'busy';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Taken
UPDATE /* tasksq.Extend */ tasks
SET    taken = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.taken, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           taken_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  taken = CONVERT(datetime2, taken_held, 126)
AND    state = 'busy';

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit, 2: timeout
SELECT /* tasksq.Recover */ TOP (@p1)
       id
FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'busy'
AND    taken <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Recover */ tasks
SET    state = 'failed'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy';

-- sql/recover_failed_update_tasks_lock.sql
-- recover_failed: locks the rows of other jobs that recover_failed_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Recover */ tasks
SET    state = tasks.state
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tasks AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tasks
       ON  tasks.id = held.parent_id
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (id_held bigint '$[0]') AS job WHERE tasks.id = id_held);

-- sql/recover_failed_update_tasks.sql
-- recover_failed: updates rows of tasks for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Recover */ tasks
SET    state = (case when exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tasks AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tasks
       ON  tasks.id = held.parent_id
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (id_held bigint '$[0]') AS job WHERE tasks.id = id_held);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* tasksq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, taken
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
UPDATE picked
SET    state = 'new',
       taken = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* tasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'done'
    AND    taken <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, taken) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* tasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
    AND    taken <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new ParentID, 3: new Whole
INSERT /* tasksq.Enqueue */ INTO tasks
       (id, parent_id, whole)
OUTPUT inserted.id
VALUES (@p1, @p2, coalesce(@p3, 0));

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
       count(CASE WHEN state = 'busy' AND taken <= DATEADD(millisecond, -(@p1 - FLOOR(@p1)) * 1000, DATEADD(second, -FLOOR(@p1), SYSUTCDATETIME())) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'busy' THEN taken END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
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
SELECT /* tasksq.Peek */ TOP (@p1)
       id, parent_id, whole
FROM   tasks WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('parent_id', 'bigint'),
                  ('whole', 'bit'),
                  ('state', 'varchar'),
                  ('taken', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'tasks'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* tasksq.Verify */
       'the isolation level of the session is above READ COMMITTED, where claims are refused (error 650); set it back'
FROM   sys.dm_exec_sessions AS have
WHERE  have.session_id = @@SPID
AND    have.transaction_isolation_level NOT IN (1, 2)
UNION  ALL
SELECT 'the compatibility level of the database is ' + CAST(have.compatibility_level AS varchar(3)) + ', OPENJSON needs 130; ALTER DATABASE … SET COMPATIBILITY_LEVEL = 130, or say server: "2014" in qgen.yaml'
FROM   sys.databases AS have
WHERE  have.database_id = DB_ID()
AND    have.compatibility_level < 130
UNION  ALL
SELECT 'PARAMETERIZATION of the database is FORCED, so that no filtered index is used; ALTER DATABASE … SET PARAMETERIZATION SIMPLE'
FROM   sys.databases AS have
WHERE  have.database_id = DB_ID()
AND    have.is_parameterization_forced = 1
UNION  ALL
SELECT 'the table has a clustered columnstore index, which has no row locks'
FROM   sys.indexes AS have
WHERE  have.object_id = OBJECT_ID('tasks')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('tasks')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('tasks_ready', 'state, id', 'state', ''),
                  ('PK__tasks', 'id', 'id', '')
       ) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   sys.indexes AS have
           CROSS  APPLY (
                      SELECT (
                                 SELECT LOWER(c.name) + CASE k.is_descending_key WHEN 1 THEN ' desc' ELSE '' END + ', '
                                 FROM   sys.index_columns AS k
                                 INNER  JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
                                 WHERE  k.object_id = have.object_id
                                 AND    k.index_id = have.index_id
                                 AND    k.key_ordinal > 0
                                 ORDER  BY k.key_ordinal
                                 FOR    XML PATH('')) AS columns,
                             REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(LOWER(COALESCE(have.filter_definition, '')),
                                 '(', ''), ')', ''), '[', ''), ']', ''), '"', ''), ' ', '') AS predicate
                  ) AS made
           WHERE  have.object_id = OBJECT_ID('tasks')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX tasks_ready ON tasks (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Claim: the only row of each value that is asked for: PK__tasks serves already
