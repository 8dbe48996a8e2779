-- Package waitsq uses the table waits as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "since" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "last_at" takes them by their time, and reads none that wait for theirs
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* waitsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, last_at, since, wait_s
    FROM   waits WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (since <= RIGHT(REPLICATE('0', 14) + CAST(CASE WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) < 0 THEN 0 WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) > 99999999999999 THEN 99999999999999 ELSE CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) AS bigint) END AS varchar(20)), 14) OR since IS NULL)
    AND    (last_at <= RIGHT(REPLICATE('0', 11) + CAST(CASE WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) < 0 THEN 0 WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) > 99999999999 THEN 99999999999 ELSE CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) AS bigint) END AS varchar(20)), 11) OR last_at IS NULL)
    ORDER  BY id
)
UPDATE picked
SET    since = RIGHT(REPLICATE('0', 14) + CAST(CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 14)
OUTPUT inserted.id, inserted.last_at, inserted.since, inserted.wait_s;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
DELETE /* waitsq.Complete */ waits
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(varchar(8000), since_held)
AND    since IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* waitsq.Fail */ waits
SET    last_at = RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11),
       since = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(varchar(8000), since_held)
AND    since IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* waitsq.Requeue */ waits
SET    since = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(varchar(8000), since_held)
AND    since IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* waitsq.Extend */ waits
SET    since = RIGHT(REPLICATE('0', 14) + CAST(CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 14)
OUTPUT inserted.id, inserted.since
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(varchar(8000), since_held)
AND    since IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new LastAt, 2: new WaitS
INSERT /* waitsq.Enqueue */ INTO waits
       (last_at, wait_s)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @p1), coalesce(@p2, 60));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all LastAt WaitS
SET /* waitsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO waits
       (last_at, wait_s)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), last_at_new), coalesce(wait_s_new, 60)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           last_at_new nvarchar(4000) '$[0]',
           wait_s_new int '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(CASE WHEN (since <= RIGHT(REPLICATE('0', 14) + CAST(CASE WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) < 0 THEN 0 WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) > 99999999999999 THEN 99999999999999 ELSE CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) AS bigint) END AS varchar(20)), 14) OR since IS NULL) AND (last_at <= RIGHT(REPLICATE('0', 11) + CAST(CASE WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) < 0 THEN 0 WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) > 99999999999 THEN 99999999999 ELSE CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) AS bigint) END AS varchar(20)), 11) OR last_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN since IS NOT NULL AND since > RIGHT(REPLICATE('0', 14) + CAST(CASE WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) < 0 THEN 0 WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) > 99999999999999 THEN 99999999999999 ELSE CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) AS bigint) END AS varchar(20)), 14) THEN 1 END) AS running,
       count(CASE WHEN last_at > RIGHT(REPLICATE('0', 11) + CAST(CASE WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) < 0 THEN 0 WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) > 99999999999 THEN 99999999999 ELSE CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) AS bigint) END AS varchar(20)), 11) THEN 1 END) AS delayed,
       count(CASE WHEN since IS NOT NULL AND since <= RIGHT(REPLICATE('0', 14) + CAST(CASE WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) < 0 THEN 0 WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) > 99999999999999 THEN 99999999999999 ELSE CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) AS bigint) END AS varchar(20)), 14) THEN 1 END) AS expired,
       (DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(min(CASE WHEN since IS NOT NULL AND since > RIGHT(REPLICATE('0', 14) + CAST(CASE WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) < 0 THEN 0 WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) > 99999999999999 THEN 99999999999999 ELSE CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) AS bigint) END AS varchar(20)), 14) THEN since END) AS bigint)) / 1000.0 AS oldest_running
FROM   waits;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitsq.Peek */ TOP (@p1)
       id, last_at, wait_s
FROM   waits WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (since <= RIGHT(REPLICATE('0', 14) + CAST(CASE WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) < 0 THEN 0 WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) > 99999999999999 THEN 99999999999999 ELSE CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000.0 AS bigint) AS bigint) END AS varchar(20)), 14) OR since IS NULL)
AND    (last_at <= RIGHT(REPLICATE('0', 11) + CAST(CASE WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) < 0 THEN 0 WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) > 99999999999 THEN 99999999999 ELSE CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(wait_s) AS bigint) END AS varchar(20)), 11) OR last_at IS NULL)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('last_at', 'char'),
                  ('since', 'varchar'),
                  ('wait_s', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'waits'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* waitsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('waits')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('waits')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__waits', 'id', 'id', '')
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
           WHERE  have.object_id = OBJECT_ID('waits')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PK__waits serves already
