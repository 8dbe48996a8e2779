-- Package poppedq uses the table jobs as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: a claim deletes the rows it takes (strategy=pop), since the status has no done=: done=… or done:=… there keeps them, done=delete on qgen:queue says that they go
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "id"

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* poppedq.Claim */ TOP (@p1)
       id, token, CONVERT(varchar(33), lease_till, 126), body_id
FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  status = 'ready'
ORDER  BY id;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* poppedq.Claim */ jobs
FROM   OPENJSON(@p1) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked;

-- sql/payload.sql
-- payload: what claimed jobs have in app.bodies, heads
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* poppedq.Payload */
       jobs.id, b.body, b.status, b.raw, CONVERT(varchar(33), b.made, 126), heads.subject
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs
       ON  jobs.id = id_held
       LEFT JOIN app.bodies b
       ON  (b.id = jobs.body_id)
       LEFT JOIN heads
       ON  (heads.body_id = jobs.body_id);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Token, 2: new LeaseTill, 3: new BodyID
INSERT /* poppedq.Enqueue */ INTO jobs
       (token, lease_till, body_id)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @p1), CONVERT(datetimeoffset, @p2, 126), @p3);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Token LeaseTill BodyID
SET /* poppedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO jobs
       (token, lease_till, body_id)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), token_new), CONVERT(datetimeoffset, lease_till_new, 126),
       body_id_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           token_new nvarchar(4000) '$[0]',
           lease_till_new varchar(33) '$[1]',
           body_id_new bigint '$[2]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (status, id)
SELECT /* poppedq.Stats */
       count(*) AS ready
FROM   jobs
WHERE  status = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* poppedq.Peek */ TOP (@p1)
       id, token, CONVERT(varchar(33), lease_till, 126), body_id
FROM   jobs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 'ready'
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* poppedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* poppedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('status', 'varchar'),
                  ('token', 'varchar'),
                  ('lease_till', 'datetimeoffset'),
                  ('body_id', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'jobs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of app.bodies
-- locks: none
SELECT /* poppedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('body', 'nvarchar'),
                  ('status', 'varchar'),
                  ('raw', 'varbinary'),
                  ('made', 'datetimeoffset')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'app'
       AND have.TABLE_NAME = 'bodies'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_payload2.sql
-- verify: columns of heads
-- locks: none
SELECT /* poppedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('subject', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'heads'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* poppedq.Verify */
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
SELECT /* poppedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('jobs_ready', 'status, id', 'status', '')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted
-- jobsq advises the same
CREATE INDEX jobs_ready ON jobs (status, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
