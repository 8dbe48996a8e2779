-- Package stored uses the table items as a queue of jobs on SQL Server 2019 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where ((select count(*) from items q where q.status = 'pending') < 100), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_claim
    @limit int
AS
SET NOCOUNT ON;
WITH /* stored.Claim */ picked AS (
    SELECT TOP (@limit)
           id, queue_id, data, status, since
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'pending'
    ORDER  BY id
)
UPDATE picked
SET    status = 'in_progress',
       since = SYSUTCDATETIME()
OUTPUT inserted.id, inserted.queue_id, inserted.data,
       CONVERT(varchar(27), inserted.since, 126);
GO

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* stored.Claim */ items_claim @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_complete
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* stored.Complete */ items
SET    status = 'completed'
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'in_progress';
GO

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
EXEC /* stored.Complete */ items_complete @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_fail
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* stored.Fail */ items
SET    status = 'failed'
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'in_progress';
GO

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
EXEC /* stored.Fail */ items_fail @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_requeue
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* stored.Requeue */ items
SET    status = 'pending',
       since = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'in_progress';
GO

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
EXEC /* stored.Requeue */ items_requeue @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_extend
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* stored.Extend */ items
SET    since = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.since, 126)
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'in_progress';
GO

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
EXEC /* stored.Extend */ items_extend @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_recover
    @limit int
AS
SET NOCOUNT ON;
WITH /* stored.Recover */ picked AS (
    SELECT TOP (@limit)
           id, status, since
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'in_progress'
    AND    since <= DATEADD(hour, -1, SYSUTCDATETIME())
)
UPDATE picked
SET    status = 'pending',
       since = NULL
OUTPUT inserted.id;
GO

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
EXEC /* stored.Recover */ items_recover @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_redrive
    @limit int
AS
SET NOCOUNT ON;
WITH /* stored.Redrive */ picked AS (
    SELECT TOP (@limit)
           id, status, since
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'failed'
)
UPDATE picked
SET    status = 'pending',
       since = NULL
OUTPUT inserted.id;
GO

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* stored.Redrive */ items_redrive @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_purge_done
    @limit int,
    @olderSeconds float
AS
SET NOCOUNT ON;
WITH /* stored.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'completed'
    AND    since <= DATEADD(millisecond, -(@olderSeconds - FLOOR(@olderSeconds)) * 1000, DATEADD(second, -FLOOR(@olderSeconds), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;
GO

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
EXEC /* stored.Purge */ items_purge_done @limit = @p1, @olderSeconds = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_purge_failed
    @limit int,
    @olderSeconds float
AS
SET NOCOUNT ON;
WITH /* stored.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'failed'
    AND    since <= DATEADD(millisecond, -(@olderSeconds - FLOOR(@olderSeconds)) * 1000, DATEADD(second, -FLOOR(@olderSeconds), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;
GO

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
EXEC /* stored.Purge */ items_purge_failed @limit = @p1, @olderSeconds = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_enqueue_alone
AS
DECLARE /* stored.EnqueueMany */ @gate int;
EXEC @gate = sp_getapplock @Resource = 'enqueue items', @LockMode = 'Exclusive', @LockOwner = 'Transaction';
IF @gate < 0 RAISERROR(N'sp_getapplock: %d', 16, 1, @gate);
GO

-- sql/enqueue_alone.sql
-- enqueue: jobs are added one after the other, so that enqueue_if sees all that are there
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
EXEC /* stored.EnqueueMany */ items_enqueue_alone;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_enqueue
    @queueID nvarchar(4000),
    @data nvarchar(4000)
AS
SET NOCOUNT ON;
INSERT /* stored.Enqueue */ INTO items
       (queue_id, data)
OUTPUT inserted.id
SELECT CONVERT(varchar(8000), @queueID), CONVERT(varchar(8000), @data)
WHERE  ((select count(*) from items q where q.status = 'pending') < 100);
GO

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none
-- locks: nothing that others wait for
-- index: whichever finds the rows of enqueue_if
-- isolation: read committed
-- arguments: 1: new QueueID, 2: new Data
EXEC /* stored.Enqueue */ items_enqueue @queueID = @p1, @data = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_stats
AS
SELECT /* stored.Stats */
       count(CASE WHEN status = 'pending' THEN 1 END) AS ready,
       count(CASE WHEN status = 'in_progress' THEN 1 END) AS running,
       count(CASE WHEN status = 'completed' THEN 1 END) AS done,
       count(CASE WHEN status = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN status = 'in_progress' AND since <= DATEADD(hour, -1, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 'in_progress' THEN since END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   items;
GO

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
EXEC /* stored.Stats */ items_stats;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_backlog
AS
SELECT /* stored.Backlog */
       count(*) AS ready
FROM   items
WHERE  status = 'pending';
GO

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
EXEC /* stored.Backlog */ items_backlog;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE items_peek
    @limit int
AS
SET NOCOUNT ON;
SELECT /* stored.Peek */ TOP (@limit)
       id, queue_id, data
FROM   items WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 'pending'
ORDER  BY id;
GO

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* stored.Peek */ items_peek @limit = @p1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stored.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stored.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('queue_id', 'varchar'),
                  ('data', 'varchar'),
                  ('status', 'varchar'),
                  ('since', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'items'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_procedures.sql
-- verify: procedures
-- locks: none
SELECT /* stored.Verify */
       'procedure ' + want.name + ' is missing'
FROM   (
           VALUES ('items_claim'),
                  ('items_complete'),
                  ('items_fail'),
                  ('items_requeue'),
                  ('items_extend'),
                  ('items_recover'),
                  ('items_redrive'),
                  ('items_purge_done'),
                  ('items_purge_failed'),
                  ('items_enqueue_alone'),
                  ('items_enqueue'),
                  ('items_stats'),
                  ('items_backlog'),
                  ('items_peek')
       ) AS want (name)
WHERE  OBJECT_ID(want.name, 'P') IS NULL;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* stored.Verify */
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
WHERE  have.object_id = OBJECT_ID('items')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('items')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stored.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('items_ready', 'status, id', 'status', '')
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
           WHERE  have.object_id = OBJECT_ID('items')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
-- itemsq advises the same
CREATE INDEX items_ready ON items (status, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
