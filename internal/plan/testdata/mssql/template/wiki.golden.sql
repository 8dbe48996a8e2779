-- Package wikiq uses the table {{.Prefix}}job as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        SQL Server has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     SQL Server has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "job_token_timestamp" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "job_id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: job_cmd_id (job_cmd, job_id)
-- isolation: read committed
-- arguments: 1: limit, 2: param jobCmd string, 3: token JobToken
WITH /* wikiq.Claim */ picked AS (
    SELECT TOP (@p1)
           job_id, job_cmd, job_params, job_token, job_token_timestamp, job_attempts
    FROM   [{{.Prefix}}job] WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL)
    AND    job_attempts < 3
    AND    job_cmd = CONVERT(varchar(8000), @p2)
    ORDER  BY job_id
)
UPDATE picked
SET    job_token = @p3,
       job_token_timestamp = SYSDATETIMEOFFSET(),
       job_attempts = job_attempts + 1
OUTPUT inserted.job_id, inserted.job_cmd, inserted.job_params, inserted.job_token,
       CONVERT(varchar(33), inserted.job_token_timestamp, 126), inserted.job_attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all JobID JobToken
DELETE /* wikiq.Complete */ [{{.Prefix}}job]
OUTPUT deleted.job_id
FROM   OPENJSON(@p1) WITH (
           job_id_held bigint '$[0]',
           job_token_held nvarchar(4000) '$[1]'
       ) AS job_rows
       INNER LOOP JOIN [{{.Prefix}}job] WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  job_id = job_id_held
WHERE  job_token = CONVERT(varchar(8000), job_token_held)
AND    job_token_timestamp IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Fail */ [{{.Prefix}}job]
SET    job_token = NULL,
       job_token_timestamp = NULL
OUTPUT inserted.job_id
FROM   OPENJSON(@p1) WITH (
           job_id_held bigint '$[0]',
           job_token_held nvarchar(4000) '$[1]'
       ) AS job_rows
       INNER LOOP JOIN [{{.Prefix}}job] WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  job_id = job_id_held
WHERE  job_token = CONVERT(varchar(8000), job_token_held)
AND    job_token_timestamp IS NOT NULL;

-- sql/fail.sql
-- fail: running to failed
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Fail */ [{{.Prefix}}job]
SET    job_token = NULL,
       job_token_timestamp = NULL
OUTPUT inserted.job_id
FROM   OPENJSON(@p1) WITH (
           job_id_held bigint '$[0]',
           job_token_held nvarchar(4000) '$[1]'
       ) AS job_rows
       INNER LOOP JOIN [{{.Prefix}}job] WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  job_id = job_id_held
WHERE  job_token = CONVERT(varchar(8000), job_token_held)
AND    job_token_timestamp IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Requeue */ [{{.Prefix}}job]
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = job_attempts - 1
OUTPUT inserted.job_id
FROM   OPENJSON(@p1) WITH (
           job_id_held bigint '$[0]',
           job_token_held nvarchar(4000) '$[1]'
       ) AS job_rows
       INNER LOOP JOIN [{{.Prefix}}job] WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  job_id = job_id_held
WHERE  job_token = CONVERT(varchar(8000), job_token_held)
AND    job_token_timestamp IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: job_token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all JobID JobToken
UPDATE /* wikiq.Extend */ [{{.Prefix}}job]
SET    job_token_timestamp = SYSDATETIMEOFFSET()
OUTPUT inserted.job_id
FROM   OPENJSON(@p1) WITH (
           job_id_held bigint '$[0]',
           job_token_held nvarchar(4000) '$[1]'
       ) AS job_rows
       INNER LOOP JOIN [{{.Prefix}}job] WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  job_id = job_id_held
WHERE  job_token = CONVERT(varchar(8000), job_token_held)
AND    job_token_timestamp IS NOT NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* wikiq.Redrive */ picked AS (
    SELECT TOP (@p1)
           job_id, job_token, job_token_timestamp, job_attempts
    FROM   [{{.Prefix}}job] WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL)
    AND    job_attempts >= 3
)
UPDATE picked
SET    job_token = NULL,
       job_token_timestamp = NULL,
       job_attempts = 0
OUTPUT inserted.job_id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* wikiq.Purge */ picked AS (
    SELECT TOP (@p1)
           job_id
    FROM   [{{.Prefix}}job] WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL)
    AND    job_attempts >= 3
    AND    job_token_timestamp <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIMEOFFSET()))
)
DELETE FROM picked
OUTPUT deleted.job_id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobCmd, 2: new JobParams
INSERT /* wikiq.Enqueue */ INTO [{{.Prefix}}job]
       (job_cmd, job_params, job_attempts)
OUTPUT inserted.job_id
VALUES (CONVERT(varchar(8000), @p1), @p2, 0);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all JobCmd JobParams
SET /* wikiq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           job_id bigint
       );
INSERT INTO [{{.Prefix}}job]
       (job_cmd, job_params, job_attempts)
OUTPUT inserted.job_id
INTO   @kept
SELECT CONVERT(varchar(8000), job_cmd_new), CONVERT(varbinary(max), job_params_new, 2), 0
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           job_cmd_new nvarchar(4000) '$[0]',
           job_params_new varchar(max) '$[1]'
       ) AS job_rows
ORDER  BY CAST(list.[key] AS int);
SELECT job_id
FROM   @kept
ORDER  BY job_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Stats */
       count(CASE WHEN (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL) AND job_attempts < 3 THEN 1 END) AS ready,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN 1 END) AS running,
       count(CASE WHEN (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL) AND job_attempts >= 3 THEN 1 END) AS failed,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN job_token_timestamp END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_running
FROM   [{{.Prefix}}job];

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job_cmd is for
-- locks: none
-- index: job_cmd_id (job_cmd, job_id)
-- arguments: 1: param jobCmd string
SELECT /* wikiq.StatsOf */
       count(CASE WHEN (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL) AND job_attempts < 3 THEN 1 END) AS ready,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN 1 END) AS running,
       count(CASE WHEN (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL) AND job_attempts >= 3 THEN 1 END) AS failed,
       count(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN job_token_timestamp IS NOT NULL AND job_token_timestamp > DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN job_token_timestamp END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_running
FROM   [{{.Prefix}}job]
WHERE  job_cmd = CONVERT(varchar(8000), @p1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job_cmd
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Backlog */
       job_cmd,
       count(*) AS ready
FROM   [{{.Prefix}}job]
WHERE  (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL)
AND    job_attempts < 3
GROUP  BY job_cmd
ORDER  BY job_cmd;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: job_cmd_id (job_cmd, job_id)
-- isolation: read committed
-- arguments: 1: limit, 2: param jobCmd string
SELECT /* wikiq.Peek */ TOP (@p1)
       job_id, job_cmd, job_params, job_attempts
FROM   [{{.Prefix}}job] WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (job_token_timestamp <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) OR job_token_timestamp IS NULL)
AND    job_attempts < 3
AND    job_cmd = CONVERT(varchar(8000), @p2)
ORDER  BY job_id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* wikiq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* wikiq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('job_id', 'bigint'),
                  ('job_cmd', 'varchar'),
                  ('job_params', 'varbinary'),
                  ('job_token', 'varchar'),
                  ('job_token_timestamp', 'datetimeoffset'),
                  ('job_attempts', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = '{{.Prefix}}job'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* wikiq.Verify */
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
WHERE  have.object_id = OBJECT_ID('[{{.Prefix}}job]')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('[{{.Prefix}}job]')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* wikiq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('job_cmd_id', 'job_cmd, job_id', 'job_cmd', '')
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
           WHERE  have.object_id = OBJECT_ID('[{{.Prefix}}job]')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: job_cmd_id serves already
