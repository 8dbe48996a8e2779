-- Package storedq uses the table renders as a queue of jobs on SQL Server 2019 and later.
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

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_claim_pick
    @limit int,
    @site nvarchar(4000)
AS
SET NOCOUNT ON;
SELECT /* storedq.Claim */ TOP (@limit)
       id, site, scene, memory_mb, urgency, tries
FROM   renders WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    site = CONVERT(varchar(8000), @site)
ORDER  BY urgency DESC, id;
GO

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param site string
EXEC /* storedq.Claim */ renders_claim_pick @limit = @p1, @site = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_claim
    @worker nvarchar(4000),
    @jobs nvarchar(max),
    @site nvarchar(4000)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Claim */ renders
SET    state = 'A',
       tries = tries + 1,
       until_at = DATEADD(minute, 5, SYSDATETIMEOFFSET()),
       node = @worker
OUTPUT inserted.id, inserted.site, inserted.scene, inserted.memory_mb, inserted.urgency,
       inserted.tries, CONVERT(varchar(33), inserted.until_at, 126), inserted.node
FROM   OPENJSON(@jobs) WITH (
           id_picked bigint '$[0]',
           tries_picked int '$[1]'
       ) AS job
       INNER LOOP JOIN renders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked
WHERE  tries = tries_picked
AND    state = 'N'
AND    site = CONVERT(varchar(8000), @site);
GO

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Node, 2: batch_all ID Tries, 3: param site string
EXEC /* storedq.Claim */ renders_claim @worker = @p1, @jobs = @p2, @site = @p3;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_complete
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Complete */ renders
SET    state = 'D',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           node_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN renders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    node = CONVERT(varchar(8000), node_held)
AND    state = 'A';
GO

-- sql/complete.sql
-- complete: running to done
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Node
EXEC /* storedq.Complete */ renders_complete @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_retry
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Fail */ renders
SET    state = 'N',
       until_at = NULL,
       node = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           node_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN renders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    node = CONVERT(varchar(8000), node_held)
AND    state = 'A';
GO

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Node
EXEC /* storedq.Fail */ renders_retry @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_fail
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Fail */ renders
SET    state = 'E',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           node_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN renders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    node = CONVERT(varchar(8000), node_held)
AND    state = 'A';
GO

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Node
EXEC /* storedq.Fail */ renders_fail @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_requeue
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Requeue */ renders
SET    state = 'N',
       tries = tries - 1,
       until_at = NULL,
       node = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           node_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN renders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    node = CONVERT(varchar(8000), node_held)
AND    state = 'A';
GO

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Node
EXEC /* storedq.Requeue */ renders_requeue @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_extend
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Extend */ renders
SET    until_at = DATEADD(minute, 5, SYSDATETIMEOFFSET())
OUTPUT inserted.id, CONVERT(varchar(33), inserted.until_at, 126)
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           node_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN renders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    node = CONVERT(varchar(8000), node_held)
AND    state = 'A';
GO

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Node
EXEC /* storedq.Extend */ renders_extend @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_recover
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Recover */ picked AS (
    SELECT TOP (@limit)
           id, state, until_at, node
    FROM   renders WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries < 5
    AND    until_at <= SYSDATETIMEOFFSET()
)
UPDATE picked
SET    state = 'N',
       until_at = NULL,
       node = NULL
OUTPUT inserted.id;
GO

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Recover */ renders_recover @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_recover_failed
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Recover */ picked AS (
    SELECT TOP (@limit)
           id, state, until_at
    FROM   renders WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries >= 5
    AND    until_at <= SYSDATETIMEOFFSET()
)
UPDATE picked
SET    state = 'E',
       until_at = NULL
OUTPUT inserted.id;
GO

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Recover */ renders_recover_failed @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_redrive
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Redrive */ picked AS (
    SELECT TOP (@limit)
           id, state, tries, until_at, node
    FROM   renders WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'E'
)
UPDATE picked
SET    state = 'N',
       tries = 0,
       until_at = NULL,
       node = NULL
OUTPUT inserted.id;
GO

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Redrive */ renders_redrive @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_purge_done
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   renders WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
)
DELETE FROM picked
OUTPUT deleted.id;
GO

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Purge */ renders_purge_done @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_purge_failed
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   renders WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'E'
)
DELETE FROM picked
OUTPUT deleted.id;
GO

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Purge */ renders_purge_failed @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_enqueue
    @site nvarchar(4000),
    @scene nvarchar(4000),
    @memoryMb int,
    @urgency int
AS
SET NOCOUNT ON;
INSERT /* storedq.Enqueue */ INTO renders
       (site, scene, memory_mb, urgency)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @site), CONVERT(varchar(8000), @scene), @memoryMb, coalesce(@urgency, 0));
GO

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new Scene, 3: new MemoryMb, 4: new Urgency
EXEC /* storedq.Enqueue */ renders_enqueue @site = @p1, @scene = @p2, @memoryMb = @p3, @urgency = @p4;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_enqueue_many
    @jobs nvarchar(max)
AS
SET /* storedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO renders
       (site, scene, memory_mb, urgency)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), site_new), CONVERT(varchar(8000), scene_new), memory_mb_new,
       coalesce(urgency_new, 0)
FROM   OPENJSON(@jobs) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           site_new nvarchar(4000) '$[0]',
           scene_new nvarchar(4000) '$[1]',
           memory_mb_new int '$[2]',
           urgency_new int '$[3]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;
GO

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Site Scene MemoryMb Urgency
EXEC /* storedq.EnqueueMany */ renders_enqueue_many @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_stats
AS
SELECT /* storedq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'A' AND until_at <= SYSDATETIMEOFFSET() THEN 1 END) AS expired
FROM   renders;
GO

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
EXEC /* storedq.Stats */ renders_stats;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_stats_of
    @site nvarchar(4000)
AS
SELECT /* storedq.StatsOf */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'A' AND until_at <= SYSDATETIMEOFFSET() THEN 1 END) AS expired
FROM   renders
WHERE  site = CONVERT(varchar(8000), @site);
GO

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same site is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param site string
EXEC /* storedq.StatsOf */ renders_stats_of @site = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_backlog
AS
SELECT /* storedq.Backlog */
       site,
       count(*) AS ready
FROM   renders
WHERE  state = 'N'
GROUP  BY site
ORDER  BY site;
GO

-- sql/backlog.sql
-- backlog: counts the rows that wait, by site
-- locks: none
-- index: (state, site, urgency DESC, id)
EXEC /* storedq.Backlog */ renders_backlog;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE renders_peek
    @limit int,
    @site nvarchar(4000)
AS
SET NOCOUNT ON;
SELECT /* storedq.Peek */ TOP (@limit)
       id, site, scene, memory_mb, urgency, tries
FROM   renders WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    site = CONVERT(varchar(8000), @site)
ORDER  BY urgency DESC, id;
GO

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, site, urgency DESC, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param site string
EXEC /* storedq.Peek */ renders_peek @limit = @p1, @site = @p2;

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
                  ('site', 'varchar'),
                  ('scene', 'varchar'),
                  ('memory_mb', 'int'),
                  ('urgency', 'int'),
                  ('state', 'char'),
                  ('tries', 'int'),
                  ('until_at', 'datetimeoffset'),
                  ('node', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'renders'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_procedures.sql
-- verify: procedures
-- locks: none
SELECT /* storedq.Verify */
       'procedure ' + want.name + ' is missing'
FROM   (
           VALUES ('renders_claim_pick'),
                  ('renders_claim'),
                  ('renders_complete'),
                  ('renders_retry'),
                  ('renders_fail'),
                  ('renders_requeue'),
                  ('renders_extend'),
                  ('renders_recover'),
                  ('renders_recover_failed'),
                  ('renders_redrive'),
                  ('renders_purge_done'),
                  ('renders_purge_failed'),
                  ('renders_enqueue'),
                  ('renders_enqueue_many'),
                  ('renders_stats'),
                  ('renders_stats_of'),
                  ('renders_backlog'),
                  ('renders_peek')
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
WHERE  have.object_id = OBJECT_ID('renders')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('renders')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* storedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('renders_ready', 'state, site, urgency desc, id', 'state, site, urgency desc', '')
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
           WHERE  have.object_id = OBJECT_ID('renders')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
-- rendersq advises the same
CREATE INDEX renders_ready ON renders (state, site, urgency DESC, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
