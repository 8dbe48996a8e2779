-- Package storedq uses the table dbo.steps as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: the row whose key is the token is added when jobs are found, and not before (from=companion), and ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level token: every claim adds a row to dbo.runs and leaves its run in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its run.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes dbo.runs (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates steps_stored_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       from=companion adds a row between finding jobs and marking them
--   lease_table  from=companion adds a row between finding jobs and marking them
--   hold         from=companion adds a row between finding jobs and marking them
--   partition    from=companion adds a row between finding jobs and marking them
--   returning    from=companion adds a row between finding jobs and marking them
--   block        from=companion adds a row between finding jobs and marking them
--   token        from=companion adds a row between finding jobs and marking them
-- * lock_update  the row whose key is the token is added when jobs are found, and not before (from=companion), and ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     from=companion adds a row between finding jobs and marking them
--   guarded      not needed: lock_update comes first
--   pop          from=companion adds a row between finding jobs and marking them
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_claim_lock
    @limit int
AS
SET NOCOUNT ON;
SELECT /* storedq.Claim */ TOP (@limit)
       id
FROM   dbo.steps WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'N'
ORDER  BY id;
GO

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Claim */ dbo.steps_claim_lock @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_claim_batch
AS
SET NOCOUNT ON;
INSERT /* storedq.Claim */ INTO dbo.runs
       (began)
OUTPUT LOWER(CONVERT(char(36), inserted.run))
VALUES (SYSDATETIMEOFFSET());
GO

-- sql/claim_batch.sql
-- claim: one row of dbo.runs for the rows that claim_lock.sql locked; claim.sql then writes its run to them
-- locks: nothing that others wait for
-- index: none; it reads nothing
-- isolation: read committed
EXEC /* storedq.Claim */ dbo.steps_claim_batch;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_claim
    @token nvarchar(36),
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Claim */ dbo.steps
SET    state = 'A',
       run = @token
OUTPUT inserted.id, LOWER(CONVERT(char(36), inserted.run))
FROM   OPENJSON(@jobs) WITH (
           id_picked int '$[0]'
       ) AS job
       INNER LOOP JOIN dbo.steps WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked;
GO

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token Run, 2: batch_all ID
EXEC /* storedq.Claim */ dbo.steps_claim @token = @p1, @jobs = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_complete
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Complete */ dbo.steps
SET    state = 'D'
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held int '$[0]',
           run_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.steps WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run = CONVERT(uniqueidentifier, run_held)
AND    state = 'A';
GO

-- sql/complete.sql
-- complete: running to done
-- fence: run as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Run
EXEC /* storedq.Complete */ dbo.steps_complete @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_retry
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Fail */ dbo.steps
SET    state = 'N',
       run = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held int '$[0]',
           run_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.steps WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run = CONVERT(uniqueidentifier, run_held)
AND    state = 'A';
GO

-- sql/retry.sql
-- retry: running to ready
-- fence: run as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Run
EXEC /* storedq.Fail */ dbo.steps_retry @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_requeue
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Requeue */ dbo.steps
SET    state = 'N',
       run = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held int '$[0]',
           run_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.steps WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run = CONVERT(uniqueidentifier, run_held)
AND    state = 'A';
GO

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Run
EXEC /* storedq.Requeue */ dbo.steps_requeue @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_purge_done
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Purge */ picked AS (
    SELECT TOP (@limit)
           id
    FROM   dbo.steps WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
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
EXEC /* storedq.Purge */ dbo.steps_purge_done @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_enqueue
    @id int
AS
SET NOCOUNT ON;
INSERT /* storedq.Enqueue */ INTO dbo.steps
       (id, state)
OUTPUT inserted.id
VALUES (@id, 'N');
GO

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
EXEC /* storedq.Enqueue */ dbo.steps_enqueue @id = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_stats
AS
SELECT /* storedq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done
FROM   dbo.steps;
GO

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
EXEC /* storedq.Stats */ dbo.steps_stats;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_backlog
AS
SELECT /* storedq.Backlog */
       count(*) AS ready
FROM   dbo.steps
WHERE  state = 'N';
GO

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
EXEC /* storedq.Backlog */ dbo.steps_backlog;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE dbo.steps_peek
    @limit int
AS
SET NOCOUNT ON;
SELECT /* storedq.Peek */ TOP (@limit)
       id
FROM   dbo.steps WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
ORDER  BY id;
GO

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Peek */ dbo.steps_peek @limit = @p1;

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
           VALUES ('id', 'int'),
                  ('state', 'char'),
                  ('run', 'uniqueidentifier')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'steps'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of dbo.runs
-- locks: none
SELECT /* storedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('run', 'uniqueidentifier'),
                  ('began', 'datetimeoffset')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'runs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_procedures.sql
-- verify: procedures
-- locks: none
SELECT /* storedq.Verify */
       'procedure ' + want.name + ' is missing'
FROM   (
           VALUES ('dbo.steps_claim_lock'),
                  ('dbo.steps_claim_batch'),
                  ('dbo.steps_claim'),
                  ('dbo.steps_complete'),
                  ('dbo.steps_retry'),
                  ('dbo.steps_requeue'),
                  ('dbo.steps_purge_done'),
                  ('dbo.steps_enqueue'),
                  ('dbo.steps_stats'),
                  ('dbo.steps_backlog'),
                  ('dbo.steps_peek')
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
WHERE  have.object_id = OBJECT_ID('dbo.steps')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.steps')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* storedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('steps_stored_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.steps')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX steps_stored_ready ON dbo.steps (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
