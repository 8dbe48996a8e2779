-- Package recallsq uses the table tape_recall as a queue of jobs on SQL Server 2019 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. It writes rows of other jobs as well, and waits for who has those locked: of two claims that wait for each other one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes rows of other jobs (Enqueue, Claim, Complete, Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tape_recall_recalls_ready and tape_recall_recalls_others.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, due, task_id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* recallsq.Claim */ picked AS (
    SELECT TOP (@p1)
           task_id, grp, [file], status, since, tries, due, weight, why
    FROM   tape_recall WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 1
    AND    due <= SYSUTCDATETIME()
    ORDER  BY due, task_id
)
UPDATE picked
SET    status = 2,
       since = SYSUTCDATETIME()
OUTPUT inserted.task_id, inserted.grp, inserted.[file],
       CONVERT(varchar(27), inserted.since, 126), inserted.tries,
       CONVERT(varchar(27), inserted.due, 126), inserted.weight, inserted.why;

-- sql/claim_update_tape_recall.sql
-- claim: updates rows of tape_recall for the rows that were taken; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch_all TaskID
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = SYSUTCDATETIME()
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tape_recall AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.task_id = task_id_held
       INNER JOIN tape_recall
       ON  tape_recall.grp = held.grp
       AND tape_recall.status = 1
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (task_id_held bigint '$[0]') AS job WHERE tape_recall.task_id = task_id_held);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all TaskID Since
SELECT /* recallsq.Complete */
       task_id
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/complete_update_tape_recall.sql
-- complete: updates rows of tape_recall for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Complete */ tape_recall
SET    status = 0,
       weight = (tape_recall.weight + shared.jobs)
FROM   (
           SELECT held.grp AS of_grp,
                  count(*) AS jobs
           FROM   OPENJSON(@p1) WITH (
                      task_id_held bigint '$[0]',
                      since_held varchar(27) '$[1]'
                  ) AS job
                  INNER LOOP JOIN tape_recall AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.task_id = task_id_held
           WHERE  held.since = CONVERT(datetime2, since_held, 126)
           GROUP  BY held.grp
       ) AS shared
       INNER JOIN tape_recall
       ON  tape_recall.grp = shared.of_grp
       AND tape_recall.status IN (2, 1)
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (task_id_held bigint '$[0]', since_held varchar(27) '$[1]') AS job WHERE tape_recall.task_id = task_id_held);

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Complete */ tape_recall
SET    status = 0
OUTPUT inserted.task_id
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all TaskID Since
SELECT /* recallsq.Fail */
       task_id
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/retry_update_tape_recall.sql
-- retry: updates rows of tape_recall for the rows that retry_lock.sql locked, before retry.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    due = (dateadd(minute, 5, held.due))
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.task_id = task_id_held
       INNER JOIN tape_recall
       ON  tape_recall.grp = held.grp
       AND tape_recall.status = 1
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (task_id_held bigint '$[0]', since_held varchar(27) '$[1]') AS job WHERE tape_recall.task_id = task_id_held)
WHERE  held.since = CONVERT(datetime2, since_held, 126);

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 1,
       since = NULL,
       tries = tries + 1,
       due = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       why = @p2
OUTPUT inserted.task_id
FROM   OPENJSON(@p3) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all TaskID Since
SELECT /* recallsq.Fail */
       task_id
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/fail_update_tape_recall.sql
-- fail: updates rows of tape_recall for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: error, 2: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 3,
       why = @p1
FROM   OPENJSON(@p2) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.task_id = task_id_held
       INNER JOIN tape_recall
       ON  tape_recall.grp = held.grp
       AND tape_recall.status = 2
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p2) WITH (task_id_held bigint '$[0]', since_held varchar(27) '$[1]') AS job WHERE tape_recall.task_id = task_id_held)
WHERE  held.since = CONVERT(datetime2, since_held, 126);

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 3,
       tries = tries + 1,
       why = @p1
OUTPUT inserted.task_id
FROM   OPENJSON(@p2) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all TaskID Since
UPDATE /* recallsq.Requeue */ tape_recall
SET    status = 1,
       since = NULL,
       due = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())) ELSE due END
OUTPUT inserted.task_id
FROM   OPENJSON(@p2) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Extend */ tape_recall
SET    since = SYSUTCDATETIME()
OUTPUT inserted.task_id, CONVERT(varchar(27), inserted.since, 126)
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 2;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
WITH /* recallsq.Recover */ picked AS (
    SELECT TOP (@p1)
           task_id, status, since, tries
    FROM   tape_recall WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 2
    AND    tries < 4
    AND    since <= DATEADD(hour, -1, SYSUTCDATETIME())
)
UPDATE picked
SET    status = 1,
       since = NULL,
       tries = tries + 1
OUTPUT inserted.task_id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, due, task_id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
SELECT /* recallsq.Recover */ TOP (@p1)
       task_id
FROM   tape_recall WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  status = 2
AND    tries >= 4
AND    since <= DATEADD(hour, -1, SYSUTCDATETIME());

-- sql/recover_failed_update_tape_recall.sql
-- recover_failed: updates rows of tape_recall for the rows that recover_failed_lock.sql locked, before recover_failed.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch_all TaskID
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 3,
       why = 'the claim ran out'
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tape_recall AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.task_id = task_id_held
       INNER JOIN tape_recall
       ON  tape_recall.grp = held.grp
       AND tape_recall.status = 2
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (task_id_held bigint '$[0]') AS job WHERE tape_recall.task_id = task_id_held);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all TaskID
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 3,
       tries = tries + 1,
       why = 'the claim ran out'
OUTPUT inserted.task_id
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tape_recall WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  task_id = task_id_held
WHERE  status = 2
AND    tries >= 4;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* recallsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           task_id, status, since, tries
    FROM   tape_recall WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 3
)
UPDATE picked
SET    status = 1,
       since = NULL,
       tries = 0
OUTPUT inserted.task_id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* recallsq.Purge */ picked AS (
    SELECT TOP (@p1)
           task_id
    FROM   tape_recall WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 0
    AND    since <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.task_id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, due, task_id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* recallsq.Purge */ picked AS (
    SELECT TOP (@p1)
           task_id
    FROM   tape_recall WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 3
    AND    since <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.task_id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Grp, 2: new File, 3: new Due, 4: new Weight
INSERT /* recallsq.Enqueue */ INTO tape_recall
       (grp, [file], due, weight)
OUTPUT inserted.task_id
VALUES (@p1, @p2, coalesce(CONVERT(datetime2, @p3, 126), SYSUTCDATETIME()),
        coalesce(@p4, 0));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Grp File Due Weight
SET /* recallsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           task_id bigint
       );
INSERT INTO tape_recall
       (grp, [file], due, weight)
OUTPUT inserted.task_id
INTO   @kept
SELECT grp_new, file_new, coalesce(CONVERT(datetime2, due_new, 126), SYSUTCDATETIME()),
       coalesce(weight_new, 0)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           grp_new bigint '$[0]',
           file_new nvarchar(4000) '$[1]',
           due_new varchar(27) '$[2]',
           weight_new int '$[3]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT task_id
FROM   @kept
ORDER  BY task_id;

-- sql/enqueue_delete_tape_recall.sql
-- enqueue: deletes rows from tape_recall for the rows that were added; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows ([file])
-- isolation: read committed
-- arguments: 1: batch_all TaskID
DELETE /* recallsq.Enqueue */ tape_recall
FROM   OPENJSON(@p1) WITH (
           task_id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN tape_recall AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.task_id = task_id_held
       INNER JOIN tape_recall
       ON  tape_recall.[file] = held.[file]
       AND tape_recall.status = 1
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (task_id_held bigint '$[0]') AS job WHERE tape_recall.task_id = task_id_held);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* recallsq.Stats */
       count(CASE WHEN status = 1 AND due <= SYSUTCDATETIME() THEN 1 END) AS ready,
       count(CASE WHEN status = 2 THEN 1 END) AS running,
       count(CASE WHEN status = 0 THEN 1 END) AS done,
       count(CASE WHEN status = 3 THEN 1 END) AS failed,
       count(CASE WHEN status = 1 AND due > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN status = 2 AND since <= DATEADD(hour, -1, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 1 AND due <= SYSUTCDATETIME() THEN due END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 2 THEN since END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   tape_recall;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, due, task_id)
SELECT /* recallsq.Backlog */
       count(CASE WHEN due <= SYSUTCDATETIME() THEN 1 END) AS ready,
       count(CASE WHEN due > SYSUTCDATETIME() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN due <= SYSUTCDATETIME() THEN due END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   tape_recall
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, due, task_id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* recallsq.Peek */ TOP (@p1)
       task_id, grp, [file], tries, CONVERT(varchar(27), due, 126), weight, why
FROM   tape_recall WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 1
AND    due <= SYSUTCDATETIME()
ORDER  BY due, task_id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* recallsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* recallsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('task_id', 'bigint'),
                  ('grp', 'bigint'),
                  ('file', 'nvarchar'),
                  ('status', 'int'),
                  ('since', 'datetime2'),
                  ('tries', 'int'),
                  ('due', 'datetime2'),
                  ('weight', 'int'),
                  ('why', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'tape_recall'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* recallsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('tape_recall')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('tape_recall')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* recallsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('tape_recall_recalls_ready', 'status, due, task_id', 'status, due', ''),
                  ('tape_recall_recalls_others', 'file', 'file', ''),
                  ('tape_recall_group', 'grp', 'grp', '')
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
           WHERE  have.object_id = OBJECT_ID('tape_recall')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX tape_recall_recalls_ready ON tape_recall (status, due, task_id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- finds the rows of other jobs that a step writes
CREATE INDEX tape_recall_recalls_others ON tape_recall ([file]);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- finds the rows of other jobs that a step writes: tape_recall_group serves already
