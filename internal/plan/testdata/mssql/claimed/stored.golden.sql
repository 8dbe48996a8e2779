-- Package storedq uses the table tasks as a queue of jobs on SQL Server 2019 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again, and those without tries left failed.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_claim
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Claim */ picked AS (
    SELECT TOP (@limit)
           id, state, till, tries, version, claimed_at, why
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'pending'
    ORDER  BY id
)
UPDATE picked
SET    state = 'waiting',
       till = DATEADD(minute, 5, SYSUTCDATETIME()),
       tries = tries + 1,
       version = version + 1,
       claimed_at = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.till, 126), inserted.tries,
       inserted.version, inserted.why;
GO

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Claim */ tasks_claim @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_start
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Start */ tasks
SET    state = 'running',
       version = version + 1,
       started_at = SYSUTCDATETIME()
OUTPUT inserted.id, inserted.version
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           version_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  version = version_held
AND    state = 'waiting';
GO

-- sql/start.sql
-- start: claimed to running
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Version
EXEC /* storedq.Start */ tasks_start @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_complete
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Complete */ tasks
SET    state = 'successful',
       till = NULL,
       version = version + 1
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           version_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  version = version_held
AND    state IN ('waiting', 'running');
GO

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Version
EXEC /* storedq.Complete */ tasks_complete @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_retry
    @error nvarchar(max),
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Fail */ tasks
SET    state = 'pending',
       till = NULL,
       version = version + 1,
       why = @error
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           version_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  version = version_held
AND    state IN ('waiting', 'running');
GO

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID Version
EXEC /* storedq.Fail */ tasks_retry @error = @p1, @jobs = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_fail
    @error nvarchar(max),
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Fail */ tasks
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = @error
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           version_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  version = version_held
AND    state IN ('waiting', 'running');
GO

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID Version
EXEC /* storedq.Fail */ tasks_fail @error = @p1, @jobs = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_requeue
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Requeue */ tasks
SET    state = 'pending',
       till = NULL,
       tries = tries - 1,
       version = version + 1
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           version_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  version = version_held
AND    state IN ('waiting', 'running');
GO

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Version
EXEC /* storedq.Requeue */ tasks_requeue @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_extend
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Extend */ tasks
SET    till = DATEADD(minute, 5, SYSUTCDATETIME()),
       version = version + 1
OUTPUT inserted.id, CONVERT(varchar(27), inserted.till, 126), inserted.version
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           version_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  version = version_held
AND    state IN ('waiting', 'running');
GO

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Version
EXEC /* storedq.Extend */ tasks_extend @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_recover
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Recover */ picked AS (
    SELECT TOP (@limit)
           id, state, till, version
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state IN ('waiting', 'running')
    AND    tries < 3
    AND    till <= SYSUTCDATETIME()
)
UPDATE picked
SET    state = 'pending',
       till = NULL,
       version = version + 1
OUTPUT inserted.id;
GO

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Recover */ tasks_recover @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_recover_failed
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Recover */ picked AS (
    SELECT TOP (@limit)
           id, state, till, version, why
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state IN ('waiting', 'running')
    AND    tries >= 3
    AND    till <= SYSUTCDATETIME()
)
UPDATE picked
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = 'the claim ran out'
OUTPUT inserted.id;
GO

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Recover */ tasks_recover_failed @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_redrive
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Redrive */ picked AS (
    SELECT TOP (@limit)
           id, state, till, tries, version
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
UPDATE picked
SET    state = 'pending',
       till = NULL,
       tries = 0,
       version = version + 1
OUTPUT inserted.id;
GO

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Redrive */ tasks_redrive @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_purge_done
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'successful'
)
DELETE FROM picked
OUTPUT deleted.id;
GO

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Purge */ tasks_purge_done @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_purge_failed
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
DELETE FROM picked
OUTPUT deleted.id;
GO

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Purge */ tasks_purge_failed @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_enqueue
AS
SET NOCOUNT ON;
INSERT /* storedq.Enqueue */ INTO tasks
OUTPUT inserted.id
DEFAULT VALUES;
GO

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
EXEC /* storedq.Enqueue */ tasks_enqueue;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_stats
AS
SELECT /* storedq.Stats */
       count(CASE WHEN state = 'pending' THEN 1 END) AS ready,
       count(CASE WHEN state = 'waiting' THEN 1 END) AS claimed,
       count(CASE WHEN state = 'running' THEN 1 END) AS running,
       count(CASE WHEN state = 'successful' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state IN ('waiting', 'running') AND till <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   tasks;
GO

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
EXEC /* storedq.Stats */ tasks_stats;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_backlog
AS
SELECT /* storedq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'pending';
GO

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
EXEC /* storedq.Backlog */ tasks_backlog;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE tasks_peek
    @limit int
AS
SET NOCOUNT ON;
SELECT /* storedq.Peek */ TOP (@limit)
       id, tries, version, why
FROM   tasks WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'pending'
ORDER  BY id;
GO

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Peek */ tasks_peek @limit = @p1;

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
                  ('state', 'varchar'),
                  ('till', 'datetime2'),
                  ('tries', 'int'),
                  ('version', 'int'),
                  ('claimed_at', 'datetime2'),
                  ('started_at', 'datetime2'),
                  ('why', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'tasks'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_procedures.sql
-- verify: procedures
-- locks: none
SELECT /* storedq.Verify */
       'procedure ' + want.name + ' is missing'
FROM   (
           VALUES ('tasks_claim'),
                  ('tasks_start'),
                  ('tasks_complete'),
                  ('tasks_retry'),
                  ('tasks_fail'),
                  ('tasks_requeue'),
                  ('tasks_extend'),
                  ('tasks_recover'),
                  ('tasks_recover_failed'),
                  ('tasks_redrive'),
                  ('tasks_purge_done'),
                  ('tasks_purge_failed'),
                  ('tasks_enqueue'),
                  ('tasks_stats'),
                  ('tasks_backlog'),
                  ('tasks_peek')
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
SELECT /* storedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('tasks_ready', 'state, id', 'state', '')
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
-- tasksq advises the same
CREATE INDEX tasks_ready ON tasks (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
