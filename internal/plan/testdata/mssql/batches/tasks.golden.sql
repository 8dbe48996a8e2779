-- Package tasksq uses the table dbo.TaskQueue as a queue of jobs on SQL Server 2017 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates TaskQueue_tasks_expired.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: IX_TaskQueue (Priority DESC, TmEnqueue, Id) INCLUDE (Data) WHERE Status = 0
-- isolation: read committed
-- arguments: 1: limit
WITH /* tasksq.Claim */ picked AS (
    SELECT TOP (@p1)
           Id, Status, Priority, Data, TmEnqueue, TmProcess
    FROM   dbo.TaskQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 0
    ORDER  BY Priority DESC, TmEnqueue, Id
)
UPDATE picked
SET    Status = 9,
       TmProcess = SYSUTCDATETIME()
OUTPUT inserted.Id, inserted.Priority, inserted.Data,
       CONVERT(varchar(27), inserted.TmEnqueue, 126),
       CONVERT(varchar(27), inserted.TmProcess, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: TmProcess as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID TmProcess
UPDATE /* tasksq.Complete */ dbo.TaskQueue
SET    Status = 1,
       TmDone = SYSUTCDATETIME()
OUTPUT inserted.Id
FROM   OPENJSON(@p1) WITH (
           Id_held bigint '$[0]',
           TmProcess_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.TaskQueue WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = Id_held
WHERE  TmProcess = CONVERT(datetime2, TmProcess_held, 126)
AND    Status = 9;

-- sql/fail.sql
-- fail: running to failed
-- fence: TmProcess as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID TmProcess
UPDATE /* tasksq.Fail */ dbo.TaskQueue
SET    Status = 2
OUTPUT inserted.Id
FROM   OPENJSON(@p1) WITH (
           Id_held bigint '$[0]',
           TmProcess_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.TaskQueue WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = Id_held
WHERE  TmProcess = CONVERT(datetime2, TmProcess_held, 126)
AND    Status = 9;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TmProcess as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID TmProcess
UPDATE /* tasksq.Requeue */ dbo.TaskQueue
SET    Status = 0,
       TmProcess = NULL
OUTPUT inserted.Id
FROM   OPENJSON(@p1) WITH (
           Id_held bigint '$[0]',
           TmProcess_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.TaskQueue WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = Id_held
WHERE  TmProcess = CONVERT(datetime2, TmProcess_held, 126)
AND    Status = 9;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TmProcess as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID TmProcess
UPDATE /* tasksq.Extend */ dbo.TaskQueue
SET    TmProcess = SYSUTCDATETIME()
OUTPUT inserted.Id, CONVERT(varchar(27), inserted.TmProcess, 126)
FROM   OPENJSON(@p1) WITH (
           Id_held bigint '$[0]',
           TmProcess_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.TaskQueue WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = Id_held
WHERE  TmProcess = CONVERT(datetime2, TmProcess_held, 126)
AND    Status = 9;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (Status, TmProcess)
-- isolation: read committed
-- arguments: 1: limit
WITH /* tasksq.Recover */ picked AS (
    SELECT TOP (@p1)
           Id, Status, TmProcess
    FROM   dbo.TaskQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 9
    AND    TmProcess <= DATEADD(minute, -15, SYSUTCDATETIME())
)
UPDATE picked
SET    Status = 0,
       TmProcess = NULL
OUTPUT inserted.Id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* tasksq.Redrive */ picked AS (
    SELECT TOP (@p1)
           Id, Status, TmProcess
    FROM   dbo.TaskQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 2
)
UPDATE picked
SET    Status = 0,
       TmProcess = NULL
OUTPUT inserted.Id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (Status, TmDone) would find them
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* tasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           Id
    FROM   dbo.TaskQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 1
    AND    TmDone <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.Id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (Status, TmProcess) would find them
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* tasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           Id
    FROM   dbo.TaskQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 2
    AND    TmProcess <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.Id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Priority, 2: new Data
INSERT /* tasksq.Enqueue */ INTO dbo.TaskQueue
       (Priority, Data, TmEnqueue)
OUTPUT inserted.Id
VALUES (coalesce(@p1, (0)), @p2, SYSUTCDATETIME());

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Priority Data
SET /* tasksq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id bigint
       );
INSERT INTO dbo.TaskQueue
       (Priority, Data, TmEnqueue)
OUTPUT inserted.Id
INTO   @kept
SELECT coalesce(Priority_new, (0)), Data_new, SYSUTCDATETIME()
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           Priority_new smallint '$[0]',
           Data_new nvarchar(max) '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT Id
FROM   @kept
ORDER  BY Id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(CASE WHEN Status = 0 THEN 1 END) AS ready,
       count(CASE WHEN Status = 9 THEN 1 END) AS running,
       count(CASE WHEN Status = 1 THEN 1 END) AS done,
       count(CASE WHEN Status = 2 THEN 1 END) AS failed,
       count(CASE WHEN Status = 9 AND TmProcess <= DATEADD(minute, -15, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN Status = 0 THEN TmEnqueue END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready,
       DATEDIFF_BIG(millisecond, min(CASE WHEN Status = 9 THEN TmProcess END), SYSUTCDATETIME()) / 1000.0 AS oldest_running,
       avg(CASE WHEN Status = 1 THEN DATEDIFF_BIG(millisecond, TmEnqueue, TmProcess) / 1000.0 END) AS mean_wait,
       avg(CASE WHEN Status = 1 THEN DATEDIFF_BIG(millisecond, TmProcess, TmDone) / 1000.0 END) AS mean_run
FROM   dbo.TaskQueue;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: IX_TaskQueue (Priority DESC, TmEnqueue, Id) INCLUDE (Data) WHERE Status = 0
SELECT /* tasksq.Backlog */
       count(*) AS ready,
       DATEDIFF_BIG(millisecond, min(TmEnqueue), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   dbo.TaskQueue
WHERE  Status = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: IX_TaskQueue (Priority DESC, TmEnqueue, Id) INCLUDE (Data) WHERE Status = 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */ TOP (@p1)
       Id, Priority, Data, CONVERT(varchar(27), TmEnqueue, 126)
FROM   dbo.TaskQueue WITH (READPAST, READCOMMITTEDLOCK)
WHERE  Status = 0
ORDER  BY Priority DESC, TmEnqueue, Id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2017'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2017';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('Id', 'bigint'),
                  ('Status', 'tinyint'),
                  ('Priority', 'smallint'),
                  ('Data', 'nvarchar'),
                  ('TmEnqueue', 'datetime2'),
                  ('TmProcess', 'datetime2'),
                  ('TmDone', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'TaskQueue'
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
WHERE  have.object_id = OBJECT_ID('dbo.TaskQueue')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.TaskQueue')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('IX_TaskQueue', 'priority desc, tmenqueue, id', 'priority desc, tmenqueue', 'status=0'),
                  ('TaskQueue_tasks_expired', 'status, tmprocess', 'status, tmprocess', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.TaskQueue')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: IX_TaskQueue serves already

-- serves Recover: claims that ran out, among the rows that somebody has
CREATE INDEX TaskQueue_tasks_expired ON dbo.TaskQueue (Status, TmProcess);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
