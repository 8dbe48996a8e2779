-- Package textsq uses the table texts as a queue of jobs on SQL Server 2019 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "run_at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "tries" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* textsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, run_at, tries
    FROM   texts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  run_at <= FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US')
    ORDER  BY id
)
UPDATE picked
SET    run_at = FORMAT(DATEADD(minute, 5, SYSUTCDATETIME()), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US'),
       tries = tries + 1
OUTPUT inserted.id, inserted.run_at, inserted.tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
DELETE /* textsq.Complete */ texts
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN texts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
UPDATE /* textsq.Fail */ texts
SET    run_at = FORMAT(DATEADD(millisecond, ((10 * tries) - FLOOR((10 * tries))) * 1000, DATEADD(second, FLOOR((10 * tries)), SYSUTCDATETIME())), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US')
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN texts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Tries
UPDATE /* textsq.Requeue */ texts
SET    run_at = FORMAT(DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US'),
       tries = tries - 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN texts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
UPDATE /* textsq.Extend */ texts
SET    run_at = FORMAT(DATEADD(minute, 5, SYSUTCDATETIME()), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US')
OUTPUT inserted.id, inserted.run_at
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN texts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* textsq.Enqueue */ INTO texts
       (run_at)
OUTPUT inserted.id
VALUES (coalesce(CONVERT(varchar(8000), @p1), FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US')));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all RunAt
SET /* textsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO texts
       (run_at)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(CONVERT(varchar(8000), run_at_new), FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US'))
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           run_at_new nvarchar(4000) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* textsq.Stats */
       count(CASE WHEN run_at <= FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US') THEN 1 END) AS ready,
       count(CASE WHEN run_at > FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US') THEN 1 END) AS running,
       count(CASE WHEN run_at > FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US') THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, CONVERT(datetime2, min(CASE WHEN run_at <= FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US') THEN run_at END)), CONVERT(datetime2, FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US'))) / 1000.0 AS oldest_ready
FROM   texts;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* textsq.Peek */ TOP (@p1)
       id, run_at, tries
FROM   texts WITH (READPAST, READCOMMITTEDLOCK)
WHERE  run_at <= FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd"T"HH:mm:ss.fff"Z"', 'en-US')
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* textsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* textsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('run_at', 'varchar'),
                  ('tries', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'texts'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* textsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('texts')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('texts')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* textsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__texts', 'id', 'id', '')
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
           WHERE  have.object_id = OBJECT_ID('texts')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PK__texts serves already
