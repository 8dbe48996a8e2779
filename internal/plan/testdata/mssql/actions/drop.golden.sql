-- Package dropq uses the table jobs as a queue of jobs on SQL Server 2019 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
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
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; waits for rows that are locked
-- index: jobs_host (host)
-- isolation: read committed
-- arguments: 1: limit, 2: param host string
WITH /* dropq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, host, state, priority, till, reason
    FROM   jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  host = CONVERT(varchar(8000), @p2)
    ORDER  BY id
)
DELETE FROM picked
OUTPUT deleted.id, deleted.host, deleted.state, deleted.priority,
       CONVERT(varchar(27), deleted.till, 126), deleted.reason;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Stats */
       count(*) AS ready
FROM   jobs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same host is for
-- locks: none
-- index: jobs_host (host)
-- arguments: 1: param host string
SELECT /* dropq.StatsOf */
       count(*) AS ready
FROM   jobs
WHERE  host = CONVERT(varchar(8000), @p1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by host
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Backlog */
       host,
       count(*) AS ready
FROM   jobs
GROUP  BY host
ORDER  BY host;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: jobs_host (host)
-- isolation: read committed
-- arguments: 1: limit, 2: param host string
SELECT /* dropq.Peek */ TOP (@p1)
       id, host, state, priority, CONVERT(varchar(27), till, 126), reason
FROM   jobs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  host = CONVERT(varchar(8000), @p2)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* dropq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('host', 'varchar'),
                  ('state', 'varchar'),
                  ('priority', 'int'),
                  ('till', 'datetime2'),
                  ('reason', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'jobs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* dropq.Verify */
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
SELECT /* dropq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('jobs_host', 'host', 'host', '')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted: jobs_host serves already
