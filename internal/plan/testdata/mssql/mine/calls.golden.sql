-- Package callsq uses the table calls as a queue of jobs on SQL Server 2016 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_ready.
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
-- note: column "begun" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state IN ('new', 'busy')
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
WITH /* callsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, holder, begun
    FROM   calls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state IN ('new', 'busy')
    AND    (begun <= DATEADD(minute, -10, SYSUTCDATETIME()) OR state = 'new' OR holder = @p2)
    ORDER  BY id
)
UPDATE picked
SET    state = 'busy',
       holder = @p2,
       begun = SYSUTCDATETIME()
OUTPUT inserted.id, inserted.holder, CONVERT(varchar(27), inserted.begun, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: begun, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun Holder
UPDATE /* callsq.Complete */ calls
SET    state = 'over'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           begun_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN calls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime2, begun_held, 126)
AND    holder = holder_held
AND    state = 'busy';

-- sql/retry.sql
-- retry: running to ready
-- fence: begun, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun Holder
UPDATE /* callsq.Fail */ calls
SET    state = 'new',
       holder = NULL,
       begun = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           begun_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN calls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime2, begun_held, 126)
AND    holder = holder_held
AND    state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: begun, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun Holder
UPDATE /* callsq.Requeue */ calls
SET    state = 'new',
       holder = NULL,
       begun = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           begun_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN calls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime2, begun_held, 126)
AND    holder = holder_held
AND    state = 'busy';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: begun, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun Holder
UPDATE /* callsq.Extend */ calls
SET    begun = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.begun, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           begun_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN calls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime2, begun_held, 126)
AND    holder = holder_held
AND    state = 'busy';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (begun) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* callsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   calls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'over'
    AND    begun <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* callsq.Enqueue */ INTO calls
OUTPUT inserted.id
DEFAULT VALUES;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: worker Holder
SELECT /* callsq.Stats */
       count(CASE WHEN state IN ('new', 'busy') AND (begun <= DATEADD(minute, -10, SYSUTCDATETIME()) OR state = 'new' OR holder = @p1) THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' AND begun > DATEADD(minute, -10, SYSUTCDATETIME()) THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'busy' AND begun <= DATEADD(minute, -10, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'busy' AND begun > DATEADD(minute, -10, SYSUTCDATETIME()) THEN begun END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state IN ('new', 'busy'); it reads others as well
-- arguments: 1: worker Holder
SELECT /* callsq.Backlog */
       count(*) AS ready
FROM   calls
WHERE  state IN ('new', 'busy')
AND    (begun <= DATEADD(minute, -10, SYSUTCDATETIME()) OR state = 'new' OR holder = @p1);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state IN ('new', 'busy')
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
SELECT /* callsq.Peek */ TOP (@p1)
       id
FROM   calls WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state IN ('new', 'busy')
AND    (begun <= DATEADD(minute, -10, SYSUTCDATETIME()) OR state = 'new' OR holder = @p2)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2016'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2016';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* callsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'varchar'),
                  ('holder', 'nvarchar'),
                  ('begun', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'calls'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* callsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('calls')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('calls')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* callsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('calls_ready', 'id', 'id', 'statein''new'',''busy''')
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
           WHERE  have.object_id = OBJECT_ID('calls')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX calls_ready ON calls (id)
WHERE  state IN ('new', 'busy');
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
-- It has a predicate: while it stands, every INSERT, UPDATE and DELETE of the table fails with error 1934 in a
-- session or a procedure whose QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT or
-- CONCAT_NULL_YIELDS_NULL is OFF, or NUMERIC_ROUNDABORT ON. sqlcmd without -I and the jobs of SQL Server Agent
-- have QUOTED_IDENTIFIER OFF, and a procedure keeps that and ANSI_NULLS as they were when it was created.
