-- Package askedq uses the table asked as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates asked_ready.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the count in column "tries" begins anew with every round of a job, so it is no fence; qgen:token or qgen:version is one
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
WITH /* askedq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, run_at, tries, holder
    FROM   asked WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    run_at <= SYSUTCDATETIME()
    ORDER  BY id
)
UPDATE picked
SET    state = 'A',
       tries = tries + 1,
       holder = @p2
OUTPUT inserted.id, CONVERT(varchar(27), inserted.run_at, 126), inserted.tries,
       inserted.holder;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Holder Answer Next
UPDATE /* askedq.Complete */ asked
SET    state = 'N',
       run_at = CONVERT(datetime2, run_at_held, 126),
       tries = 0,
       holder = NULL,
       answer = CONVERT(varchar(8000), answer_held)
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]',
           answer_held nvarchar(4000) '$[2]',
           run_at_held varchar(27) '$[3]'
       ) AS job
       INNER LOOP JOIN asked WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    state = 'A';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Holder
UPDATE /* askedq.Fail */ asked
SET    state = 'N',
       run_at = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       holder = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN asked WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    state = 'A';

-- sql/fail.sql
-- fail: running to failed
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Holder
UPDATE /* askedq.Fail */ asked
SET    state = 'E'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN asked WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Holder
UPDATE /* askedq.Requeue */ asked
SET    state = 'N',
       run_at = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())) ELSE run_at END,
       tries = tries - 1,
       holder = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN asked WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    state = 'A';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* askedq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, tries, holder
    FROM   asked WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'E'
)
UPDATE picked
SET    state = 'N',
       tries = 0,
       holder = NULL
OUTPUT inserted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* askedq.Enqueue */ INTO asked
       (run_at)
OUTPUT inserted.id
VALUES (coalesce(CONVERT(datetime2, @p1, 126), SYSUTCDATETIME()));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all RunAt
SET /* askedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO asked
       (run_at)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(CONVERT(datetime2, run_at_new, 126), SYSUTCDATETIME())
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           run_at_new varchar(27) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
       count(CASE WHEN state = 'N' AND run_at <= SYSUTCDATETIME() THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND run_at > SYSUTCDATETIME() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'N' AND run_at <= SYSUTCDATETIME() THEN run_at END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   asked;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id, run_at)
SELECT /* askedq.Backlog */
       count(CASE WHEN run_at <= SYSUTCDATETIME() THEN 1 END) AS ready,
       count(CASE WHEN run_at > SYSUTCDATETIME() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN run_at <= SYSUTCDATETIME() THEN run_at END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   asked
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* askedq.Peek */ TOP (@p1)
       id, CONVERT(varchar(27), run_at, 126), tries
FROM   asked WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    run_at <= SYSUTCDATETIME()
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* askedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'char'),
                  ('run_at', 'datetime2'),
                  ('tries', 'int'),
                  ('holder', 'varchar'),
                  ('answer', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'asked'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* askedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('asked')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('asked')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* askedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('asked_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('asked')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX asked_ready ON asked (state, id, run_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
