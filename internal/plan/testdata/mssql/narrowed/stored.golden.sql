-- Package storedq uses the table jobs as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_claim
    @limit int,
    @kind nvarchar(4000)
AS
SET NOCOUNT ON;
WITH /* storedq.Claim */ picked AS (
    SELECT TOP (@limit)
           id, kind, state, body
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    (@kind IS NULL OR kind = CONVERT(varchar(8000), @kind))
    ORDER  BY id
)
UPDATE picked
SET    state = 'A'
OUTPUT inserted.id, inserted.kind, inserted.body
OPTION (RECOMPILE);
GO

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, kind)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind *string
EXEC /* storedq.Claim */ jobs_claim @limit = @p1, @kind = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_complete
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Complete */ jobs
SET    state = 'D'
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'A';
GO

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Complete */ jobs_complete @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_retry
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Fail */ jobs
SET    state = 'N'
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'A';
GO

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Fail */ jobs_retry @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_requeue
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Requeue */ jobs
SET    state = 'N'
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'A';
GO

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Requeue */ jobs_requeue @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_purge_done
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
)
DELETE FROM picked
OUTPUT deleted.id;
GO

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, kind)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Purge */ jobs_purge_done @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_enqueue
    @kind nvarchar(4000),
    @body nvarchar(max)
AS
SET NOCOUNT ON;
INSERT /* storedq.Enqueue */ INTO jobs
       (kind, body)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @kind), @body);
GO

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Body
EXEC /* storedq.Enqueue */ jobs_enqueue @kind = @p1, @body = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_enqueue_many
    @jobs nvarchar(max)
AS
SET /* storedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO jobs
       (kind, body)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), kind_new), body_new
FROM   OPENJSON(@jobs) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           kind_new nvarchar(4000) '$[0]',
           body_new nvarchar(max) '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;
GO

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Kind Body
EXEC /* storedq.EnqueueMany */ jobs_enqueue_many @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_stats
AS
SELECT /* storedq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done
FROM   jobs;
GO

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
EXEC /* storedq.Stats */ jobs_stats;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_stats_of
    @kind nvarchar(4000)
AS
SELECT /* storedq.StatsOf */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done
FROM   jobs
WHERE  (@kind IS NULL OR kind = CONVERT(varchar(8000), @kind))
OPTION (RECOMPILE);
GO

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind *string
EXEC /* storedq.StatsOf */ jobs_stats_of @kind = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_backlog
AS
SELECT /* storedq.Backlog */
       kind,
       count(*) AS ready
FROM   jobs
WHERE  state = 'N'
GROUP  BY kind
ORDER  BY kind;
GO

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (state, id, kind)
EXEC /* storedq.Backlog */ jobs_backlog;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE jobs_peek
    @limit int,
    @kind nvarchar(4000)
AS
SET NOCOUNT ON;
SELECT /* storedq.Peek */ TOP (@limit)
       id, kind, body
FROM   jobs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    (@kind IS NULL OR kind = CONVERT(varchar(8000), @kind))
ORDER  BY id
OPTION (RECOMPILE);
GO

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, kind)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind *string
EXEC /* storedq.Peek */ jobs_peek @limit = @p1, @kind = @p2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* storedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* storedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('kind', 'varchar'),
                  ('state', 'char'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'jobs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_procedures.sql
-- verify: procedures
-- locks: none
SELECT /* storedq.Verify */
       'procedure ' + want.name + ' is missing'
FROM   (
           VALUES ('jobs_claim'),
                  ('jobs_complete'),
                  ('jobs_retry'),
                  ('jobs_requeue'),
                  ('jobs_purge_done'),
                  ('jobs_enqueue'),
                  ('jobs_enqueue_many'),
                  ('jobs_stats'),
                  ('jobs_stats_of'),
                  ('jobs_backlog'),
                  ('jobs_peek')
       ) AS want (name)
WHERE  OBJECT_ID(want.name, 'P') IS NULL;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* storedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('jobs')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('jobs')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* storedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('jobs_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('jobs')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows of another kind are passed over in it
-- jobsq advises the same
CREATE INDEX jobs_ready ON jobs (state, id, kind);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
