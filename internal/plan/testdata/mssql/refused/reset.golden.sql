-- Package resetq uses the table dbo.backups as a queue of jobs on SQL Server 2012 and later.
--
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates backups_ready.
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
-- note: qgen.yaml says what on of column "started_at" is; the comment at schema.sql:6:103 is not used
-- note: qgen.yaml says what status of column "is_started" is; the comment at schema.sql:7:53 is not used
-- note: qgen.yaml says what on of column "is_completed" is; the comment at schema.sql:8:53 is not used
-- note: qgen.yaml says what on of column "is_completed" is; the comment at schema.sql:8:69 is not used
-- note: a row whose claim has run out is claimed again, since nothing but column "started_at" says which rows run (expired=claim)
-- note: column "started_at" is '1900-01-01' while nobody has the row, as its default says
-- note: done:=0 is only written, so nothing tells a finished row: there is no Purge of it; done=… tests it as well
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: there is no Enqueue: the queue "backups" adds the rows that a claim takes here

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (is_started, started_at, id) INCLUDE (is_completed, error_number, ignored)
-- isolation: read committed
-- arguments: 1: limit, 2: param stale int
WITH /* resetq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, database_name, started_at, is_started, is_completed
    FROM   dbo.backups WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  is_started = 1
    AND    (started_at <= DATEADD(minute, -10, SYSUTCDATETIME()) OR started_at = '1900-01-01')
    AND    (backups.started_at < dateadd(second, -@p2, SYSUTCDATETIME()))
    ORDER  BY started_at, id
)
UPDATE picked
SET    started_at = '1900-01-01 00:00:00',
       is_started = 0,
       is_completed = 1
OUTPUT inserted.id, inserted.database_name, CONVERT(varchar(27), inserted.started_at, 126);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* resetq.Stats */
       count(CASE WHEN is_started = 1 AND (started_at <= DATEADD(minute, -10, SYSUTCDATETIME()) OR started_at = '1900-01-01') THEN 1 END) AS ready,
       count(CASE WHEN started_at <> '1900-01-01' AND started_at > DATEADD(minute, -10, SYSUTCDATETIME()) THEN 1 END) AS running,
       count(CASE WHEN started_at <> '1900-01-01' AND started_at <= DATEADD(minute, -10, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF(second, min(CASE WHEN started_at <> '1900-01-01' AND started_at > DATEADD(minute, -10, SYSUTCDATETIME()) THEN started_at END), SYSUTCDATETIME()) * 1.0 AS oldest_running
FROM   dbo.backups;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (is_started, started_at, id) INCLUDE (is_completed, error_number, ignored)
-- isolation: read committed
-- arguments: 1: limit, 2: param stale int
SELECT /* resetq.Peek */ TOP (@p1)
       id, database_name, CONVERT(varchar(27), started_at, 126)
FROM   dbo.backups WITH (READPAST, READCOMMITTEDLOCK)
WHERE  is_started = 1
AND    (started_at <= DATEADD(minute, -10, SYSUTCDATETIME()) OR started_at = '1900-01-01')
AND    (backups.started_at < dateadd(second, -@p2, SYSUTCDATETIME()))
ORDER  BY started_at, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* resetq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2012'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2012';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* resetq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'int'),
                  ('database_name', 'nvarchar'),
                  ('started_at', 'datetime2'),
                  ('is_started', 'bit'),
                  ('is_completed', 'bit')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'backups'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* resetq.Verify */
       'the isolation level of the session is above READ COMMITTED, where claims are refused (error 650); set it back'
FROM   sys.dm_exec_sessions AS have
WHERE  have.session_id = @@SPID
AND    have.transaction_isolation_level NOT IN (1, 2)
UNION  ALL
SELECT 'PARAMETERIZATION of the database is FORCED, so that no filtered index is used; ALTER DATABASE … SET PARAMETERIZATION SIMPLE'
FROM   sys.databases AS have
WHERE  have.database_id = DB_ID()
AND    have.is_parameterization_forced = 1
UNION  ALL
SELECT 'the table has a clustered columnstore index, which has no row locks'
FROM   sys.indexes AS have
WHERE  have.object_id = OBJECT_ID('dbo.backups')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.backups')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* resetq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('backups_ready', 'is_started, started_at, id', 'is_started, started_at', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.backups')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that a condition of the queue refuses are passed over in it
-- backupsq advises the same
CREATE INDEX backups_ready ON dbo.backups (is_started, started_at, id) INCLUDE (is_completed, error_number, ignored);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
