-- Package deliveriesq uses the table deliveries as a queue of jobs on SQL Server 2019 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates deliveries_ready.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (client, arrived, file_id, status)
-- isolation: read committed
-- arguments: 1: limit, 2: param client string
WITH /* deliveriesq.Claim */ picked AS (
    SELECT TOP (@p1)
           client, file_id, status, arrived
    FROM   deliveries WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (status = -2 or status > 0)
    AND    client = CONVERT(varchar(8000), @p2)
    ORDER  BY arrived, file_id, client
)
UPDATE picked
SET    status = -1
OUTPUT inserted.client, inserted.file_id, CONVERT(varchar(27), inserted.arrived, 126);

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Client FileID
UPDATE /* deliveriesq.Complete */ deliveries
SET    status = 0
OUTPUT inserted.client, inserted.file_id
FROM   OPENJSON(@p1) WITH (
           client_held nvarchar(4000) '$[0]',
           file_id_held int '$[1]'
       ) AS job
       INNER LOOP JOIN deliveries WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  client = CONVERT(varchar(8000), client_held)
       AND file_id = file_id_held
WHERE  status = -1;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Client FileID
UPDATE /* deliveriesq.Fail */ deliveries
SET    status = -2
OUTPUT inserted.client, inserted.file_id
FROM   OPENJSON(@p1) WITH (
           client_held nvarchar(4000) '$[0]',
           file_id_held int '$[1]'
       ) AS job
       INNER LOOP JOIN deliveries WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  client = CONVERT(varchar(8000), client_held)
       AND file_id = file_id_held
WHERE  status = -1;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Client FileID
UPDATE /* deliveriesq.Requeue */ deliveries
SET    status = -2
OUTPUT inserted.client, inserted.file_id
FROM   OPENJSON(@p1) WITH (
           client_held nvarchar(4000) '$[0]',
           file_id_held int '$[1]'
       ) AS job
       INNER LOOP JOIN deliveries WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  client = CONVERT(varchar(8000), client_held)
       AND file_id = file_id_held
WHERE  status = -1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (status) would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* deliveriesq.Purge */ picked AS (
    SELECT TOP (@p1)
           client, file_id
    FROM   deliveries WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 0
)
DELETE FROM picked
OUTPUT deleted.client, deleted.file_id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Client, 2: new FileID, 3: new Arrived
INSERT /* deliveriesq.Enqueue */ INTO deliveries
       (client, file_id, arrived)
OUTPUT inserted.client, inserted.file_id
VALUES (CONVERT(varchar(8000), @p1), @p2, CONVERT(datetime2, @p3, 126));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* deliveriesq.Stats */
       count(CASE WHEN (status = -2 or status > 0) THEN 1 END) AS ready,
       count(CASE WHEN status = -1 THEN 1 END) AS running,
       count(CASE WHEN status = 0 THEN 1 END) AS done
FROM   deliveries;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same client is for
-- locks: none
-- index: the primary key (client, file_id)
-- arguments: 1: param client string
SELECT /* deliveriesq.StatsOf */
       count(CASE WHEN (status = -2 or status > 0) THEN 1 END) AS ready,
       count(CASE WHEN status = -1 THEN 1 END) AS running,
       count(CASE WHEN status = 0 THEN 1 END) AS done
FROM   deliveries
WHERE  client = CONVERT(varchar(8000), @p1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by client
-- locks: none
-- index: none; it reads the whole table
SELECT /* deliveriesq.Backlog */
       client,
       count(*) AS ready
FROM   deliveries
WHERE  (status = -2 or status > 0)
GROUP  BY client
ORDER  BY client;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (client, arrived, file_id, status)
-- isolation: read committed
-- arguments: 1: limit, 2: param client string
SELECT /* deliveriesq.Peek */ TOP (@p1)
       client, file_id, CONVERT(varchar(27), arrived, 126)
FROM   deliveries WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (status = -2 or status > 0)
AND    client = CONVERT(varchar(8000), @p2)
ORDER  BY arrived, file_id, client;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* deliveriesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* deliveriesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('client', 'varchar'),
                  ('file_id', 'int'),
                  ('status', 'int'),
                  ('arrived', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'deliveries'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* deliveriesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('deliveries')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('deliveries')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* deliveriesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('deliveries_ready', 'client, arrived, file_id', 'client, arrived', '')
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
           WHERE  have.object_id = OBJECT_ID('deliveries')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
CREATE INDEX deliveries_ready ON deliveries (client, arrived, file_id, status);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
