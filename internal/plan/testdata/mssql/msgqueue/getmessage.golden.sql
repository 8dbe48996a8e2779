-- Package getmessageq uses the table dbo.MsgQueue as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_claim
    @limit int,
    @msgTypeCode nvarchar(4000),
    @worker nvarchar(4000)
AS
SET NOCOUNT ON;
WITH /* getmessageq.Claim */ picked AS (
    SELECT TOP (@limit)
           MsgQueueId, MsgTypeCode, Msg, State, CreateTime, StartTime, ReaderCode
    FROM   dbo.MsgQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  State = 'N'
    AND    MsgTypeCode = CONVERT(varchar(8000), @msgTypeCode)
    ORDER  BY CreateTime, MsgQueueId
)
UPDATE picked
SET    State = 'A',
       StartTime = GETDATE(),
       ReaderCode = @worker
OUTPUT inserted.MsgQueueId, inserted.MsgTypeCode, inserted.Msg,
       CONVERT(varchar(23), inserted.CreateTime, 126),
       CONVERT(varchar(23), inserted.StartTime, 126), inserted.ReaderCode;
GO

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: IX_MsgQueue_Ready (MsgTypeCode, CreateTime, MsgQueueId) WHERE ([State]='N')
-- isolation: read committed
-- arguments: 1: limit, 2: param msgTypeCode string, 3: worker ReaderCode
EXEC /* getmessageq.Claim */ dbo.MsgQueue_claim @limit = @p1, @msgTypeCode = @p2, @worker = @p3;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_complete
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* getmessageq.Complete */ dbo.MsgQueue
SET    State = 'C',
       EndTime = GETDATE()
OUTPUT inserted.MsgQueueId
FROM   OPENJSON(@jobs) WITH (
           MsgQueueId_held int '$[0]',
           StartTime_held varchar(23) '$[1]',
           ReaderCode_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.MsgQueue WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  MsgQueueId = MsgQueueId_held
WHERE  StartTime = CONVERT(datetime, StartTime_held, 126)
AND    ReaderCode = CONVERT(varchar(8000), ReaderCode_held)
AND    State = 'A';
GO

-- sql/complete.sql
-- complete: running to done
-- fence: StartTime, ReaderCode as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MsgQueueID StartTime ReaderCode
EXEC /* getmessageq.Complete */ dbo.MsgQueue_complete @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_fail
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* getmessageq.Fail */ dbo.MsgQueue
SET    State = 'E'
OUTPUT inserted.MsgQueueId
FROM   OPENJSON(@jobs) WITH (
           MsgQueueId_held int '$[0]',
           StartTime_held varchar(23) '$[1]',
           ReaderCode_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.MsgQueue WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  MsgQueueId = MsgQueueId_held
WHERE  StartTime = CONVERT(datetime, StartTime_held, 126)
AND    ReaderCode = CONVERT(varchar(8000), ReaderCode_held)
AND    State = 'A';
GO

-- sql/fail.sql
-- fail: running to failed
-- fence: StartTime, ReaderCode as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MsgQueueID StartTime ReaderCode
EXEC /* getmessageq.Fail */ dbo.MsgQueue_fail @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_requeue
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* getmessageq.Requeue */ dbo.MsgQueue
SET    State = 'N',
       StartTime = NULL,
       ReaderCode = NULL
OUTPUT inserted.MsgQueueId
FROM   OPENJSON(@jobs) WITH (
           MsgQueueId_held int '$[0]',
           StartTime_held varchar(23) '$[1]',
           ReaderCode_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.MsgQueue WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  MsgQueueId = MsgQueueId_held
WHERE  StartTime = CONVERT(datetime, StartTime_held, 126)
AND    ReaderCode = CONVERT(varchar(8000), ReaderCode_held)
AND    State = 'A';
GO

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: StartTime, ReaderCode as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MsgQueueID StartTime ReaderCode
EXEC /* getmessageq.Requeue */ dbo.MsgQueue_requeue @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_redrive
    @limit int
AS
SET NOCOUNT ON;
WITH /* getmessageq.Redrive */ picked AS (
    SELECT TOP (@limit)
           MsgQueueId, State, StartTime, ReaderCode
    FROM   dbo.MsgQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  State = 'E'
)
UPDATE picked
SET    State = 'N',
       StartTime = NULL,
       ReaderCode = NULL
OUTPUT inserted.MsgQueueId;
GO

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
EXEC /* getmessageq.Redrive */ dbo.MsgQueue_redrive @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_purge_done
    @limit int,
    @olderSeconds float
AS
SET NOCOUNT ON;
WITH /* getmessageq.Purge */ picked AS (
    SELECT TOP (@limit)
           MsgQueueId
    FROM   dbo.MsgQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  State = 'C'
    AND    EndTime <= DATEADD(millisecond, -(@olderSeconds - FLOOR(@olderSeconds)) * 1000, DATEADD(second, -FLOOR(@olderSeconds), GETDATE()))
)
DELETE FROM picked
OUTPUT deleted.MsgQueueId;
GO

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (State, EndTime) would find them
-- isolation: read committed
-- arguments: 1: limit, 2: older
EXEC /* getmessageq.Purge */ dbo.MsgQueue_purge_done @limit = @p1, @olderSeconds = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_purge_failed
    @limit int,
    @olderSeconds float
AS
SET NOCOUNT ON;
WITH /* getmessageq.Purge */ picked AS (
    SELECT TOP (@limit)
           MsgQueueId
    FROM   dbo.MsgQueue WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  State = 'E'
    AND    StartTime <= DATEADD(millisecond, -(@olderSeconds - FLOOR(@olderSeconds)) * 1000, DATEADD(second, -FLOOR(@olderSeconds), GETDATE()))
)
DELETE FROM picked
OUTPUT deleted.MsgQueueId;
GO

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (State, StartTime) would find them
-- isolation: read committed
-- arguments: 1: limit, 2: older
EXEC /* getmessageq.Purge */ dbo.MsgQueue_purge_failed @limit = @p1, @olderSeconds = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_enqueue
    @msgTypeCode nvarchar(4000),
    @msg nvarchar(max)
AS
SET NOCOUNT ON;
INSERT /* getmessageq.Enqueue */ INTO dbo.MsgQueue
       (MsgTypeCode, Msg, CreateTime)
OUTPUT inserted.MsgQueueId
VALUES (CONVERT(varchar(8000), @msgTypeCode), @msg, GETDATE());
GO

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MsgTypeCode, 2: new Msg
EXEC /* getmessageq.Enqueue */ dbo.MsgQueue_enqueue @msgTypeCode = @p1, @msg = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_enqueue_many
    @jobs nvarchar(max)
AS
SET /* getmessageq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           MsgQueueId [int]
       );
INSERT INTO dbo.MsgQueue
       (MsgTypeCode, Msg, CreateTime)
OUTPUT inserted.MsgQueueId
INTO   @kept
SELECT CONVERT(varchar(8000), MsgTypeCode_new), Msg_new, GETDATE()
FROM   OPENJSON(@jobs) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           MsgTypeCode_new nvarchar(4000) '$[0]',
           Msg_new nvarchar(max) '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT MsgQueueId
FROM   @kept
ORDER  BY MsgQueueId;
GO

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all MsgTypeCode Msg
EXEC /* getmessageq.EnqueueMany */ dbo.MsgQueue_enqueue_many @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_stats
AS
SELECT /* getmessageq.Stats */
       count(CASE WHEN State = 'N' THEN 1 END) AS ready,
       count(CASE WHEN State = 'A' THEN 1 END) AS running,
       count(CASE WHEN State = 'C' THEN 1 END) AS done,
       count(CASE WHEN State = 'E' THEN 1 END) AS failed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN State = 'N' THEN CreateTime END), GETDATE()) / 1000.0 AS oldest_ready,
       DATEDIFF_BIG(millisecond, min(CASE WHEN State = 'A' THEN StartTime END), GETDATE()) / 1000.0 AS oldest_running,
       avg(CASE WHEN State = 'C' THEN DATEDIFF_BIG(millisecond, CreateTime, StartTime) / 1000.0 END) AS mean_wait,
       avg(CASE WHEN State = 'C' THEN DATEDIFF_BIG(millisecond, StartTime, EndTime) / 1000.0 END) AS mean_run
FROM   dbo.MsgQueue;
GO

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
EXEC /* getmessageq.Stats */ dbo.MsgQueue_stats;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_stats_of
    @msgTypeCode nvarchar(4000)
AS
SELECT /* getmessageq.StatsOf */
       count(CASE WHEN State = 'N' THEN 1 END) AS ready,
       count(CASE WHEN State = 'A' THEN 1 END) AS running,
       count(CASE WHEN State = 'C' THEN 1 END) AS done,
       count(CASE WHEN State = 'E' THEN 1 END) AS failed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN State = 'N' THEN CreateTime END), GETDATE()) / 1000.0 AS oldest_ready,
       DATEDIFF_BIG(millisecond, min(CASE WHEN State = 'A' THEN StartTime END), GETDATE()) / 1000.0 AS oldest_running,
       avg(CASE WHEN State = 'C' THEN DATEDIFF_BIG(millisecond, CreateTime, StartTime) / 1000.0 END) AS mean_wait,
       avg(CASE WHEN State = 'C' THEN DATEDIFF_BIG(millisecond, StartTime, EndTime) / 1000.0 END) AS mean_run
FROM   dbo.MsgQueue
WHERE  MsgTypeCode = CONVERT(varchar(8000), @msgTypeCode);
GO

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same MsgTypeCode is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param msgTypeCode string
EXEC /* getmessageq.StatsOf */ dbo.MsgQueue_stats_of @msgTypeCode = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_backlog
AS
SELECT /* getmessageq.Backlog */
       MsgTypeCode,
       count(*) AS ready,
       DATEDIFF_BIG(millisecond, min(CreateTime), GETDATE()) / 1000.0 AS oldest_ready
FROM   dbo.MsgQueue
WHERE  State = 'N'
GROUP  BY MsgTypeCode
ORDER  BY MsgTypeCode;
GO

-- sql/backlog.sql
-- backlog: counts the rows that wait, by MsgTypeCode
-- locks: none
-- index: IX_MsgQueue_Ready (MsgTypeCode, CreateTime, MsgQueueId) WHERE ([State]='N')
EXEC /* getmessageq.Backlog */ dbo.MsgQueue_backlog;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.MsgQueue_peek
    @limit int,
    @msgTypeCode nvarchar(4000)
AS
SET NOCOUNT ON;
SELECT /* getmessageq.Peek */ TOP (@limit)
       MsgQueueId, MsgTypeCode, Msg, CONVERT(varchar(23), CreateTime, 126)
FROM   dbo.MsgQueue WITH (READPAST, READCOMMITTEDLOCK)
WHERE  State = 'N'
AND    MsgTypeCode = CONVERT(varchar(8000), @msgTypeCode)
ORDER  BY CreateTime, MsgQueueId;
GO

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: IX_MsgQueue_Ready (MsgTypeCode, CreateTime, MsgQueueId) WHERE ([State]='N')
-- isolation: read committed
-- arguments: 1: limit, 2: param msgTypeCode string
EXEC /* getmessageq.Peek */ dbo.MsgQueue_peek @limit = @p1, @msgTypeCode = @p2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* getmessageq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* getmessageq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('MsgQueueId', 'int'),
                  ('MsgTypeCode', 'varchar'),
                  ('Msg', 'nvarchar'),
                  ('State', 'char'),
                  ('CreateTime', 'datetime'),
                  ('StartTime', 'datetime'),
                  ('EndTime', 'datetime'),
                  ('ReaderCode', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'MsgQueue'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_procedures.sql
-- verify: procedures
-- locks: none
SELECT /* getmessageq.Verify */
       'procedure ' + want.name + ' is missing'
FROM   (
           VALUES ('dbo.MsgQueue_claim'),
                  ('dbo.MsgQueue_complete'),
                  ('dbo.MsgQueue_fail'),
                  ('dbo.MsgQueue_requeue'),
                  ('dbo.MsgQueue_redrive'),
                  ('dbo.MsgQueue_purge_done'),
                  ('dbo.MsgQueue_purge_failed'),
                  ('dbo.MsgQueue_enqueue'),
                  ('dbo.MsgQueue_enqueue_many'),
                  ('dbo.MsgQueue_stats'),
                  ('dbo.MsgQueue_stats_of'),
                  ('dbo.MsgQueue_backlog'),
                  ('dbo.MsgQueue_peek')
       ) AS want (name)
WHERE  OBJECT_ID(want.name, 'P') IS NULL;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* getmessageq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.MsgQueue')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.MsgQueue')
AND    have.is_disabled = 0;

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock CreateTime
SELECT /* getmessageq.Verify */
       'the clock of the database reads ' + CONVERT(varchar(23), GETDATE(), 126) + ', and that of the program does not'
WHERE  DATEDIFF_BIG(millisecond, CONVERT(datetime, @p1, 126), GETDATE()) / 1000.0 NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* getmessageq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('IX_MsgQueue_Ready', 'msgtypecode, createtime, msgqueueid', 'msgtypecode, createtime', 'state=''n''')
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
           WHERE  have.object_id = OBJECT_ID('dbo.MsgQueue')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: IX_MsgQueue_Ready serves already
