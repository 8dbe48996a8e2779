-- Package urlsq uses the table urls as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates urls_ready.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (processed, [job], id)
-- isolation: read committed
-- arguments: 1: limit, 2: param jobValue int32
WITH /* urlsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, [job], uri, processed, seen
    FROM   urls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  processed = 0
    AND    [job] = @p2
    ORDER  BY id
)
UPDATE picked
SET    processed = 1,
       seen = SYSUTCDATETIME()
OUTPUT inserted.id, inserted.[job], inserted.uri;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (processed, [job], id); it reads those that are not old enough as well, which one on (processed, seen) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* urlsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   urls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  processed = 1
    AND    seen <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Job, 2: new URI
INSERT /* urlsq.Enqueue */ INTO urls
       ([job], uri)
OUTPUT inserted.id
VALUES (@p1, @p2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Job URI
SET /* urlsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO urls
       ([job], uri)
OUTPUT inserted.id
INTO   @kept
SELECT job_new, uri_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           job_new int '$[0]',
           uri_new nvarchar(4000) '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* urlsq.Stats */
       count(CASE WHEN processed = 0 THEN 1 END) AS ready,
       count(CASE WHEN processed = 1 THEN 1 END) AS done
FROM   urls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param jobValue int32
SELECT /* urlsq.StatsOf */
       count(CASE WHEN processed = 0 THEN 1 END) AS ready,
       count(CASE WHEN processed = 1 THEN 1 END) AS done
FROM   urls
WHERE  [job] = @p1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job
-- locks: none
-- index: (processed, [job], id)
SELECT /* urlsq.Backlog */
       [job],
       count(*) AS ready
FROM   urls
WHERE  processed = 0
GROUP  BY [job]
ORDER  BY [job];

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (processed, [job], id)
-- isolation: read committed
-- arguments: 1: limit, 2: param jobValue int32
SELECT /* urlsq.Peek */ TOP (@p1)
       id, [job], uri
FROM   urls WITH (READPAST, READCOMMITTEDLOCK)
WHERE  processed = 0
AND    [job] = @p2
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* urlsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* urlsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('job', 'int'),
                  ('uri', 'nvarchar'),
                  ('processed', 'bit'),
                  ('seen', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'urls'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* urlsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('urls')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('urls')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* urlsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('urls_ready', 'processed, job, id', 'processed, job', '')
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
           WHERE  have.object_id = OBJECT_ID('urls')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX urls_ready ON urls (processed, [job], id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
