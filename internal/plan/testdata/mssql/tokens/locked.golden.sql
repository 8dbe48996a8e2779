-- Package lockedq uses the table messages as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: strategy=lock_update is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=lock_update is asked for
--   lease_table  strategy=lock_update is asked for
--   hold         strategy=lock_update is asked for
--   partition    strategy=lock_update is asked for
--   returning    strategy=lock_update is asked for
--   block        strategy=lock_update is asked for
--   token        strategy=lock_update is asked for
-- * lock_update  strategy=lock_update is asked for
--   advisory     strategy=lock_update is asked for
--   guarded      strategy=lock_update is asked for
--   pop          strategy=lock_update is asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "taken" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index message_handle lets no two rows have one token: every claim leaves a fresh value in each row

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lockedq.Claim */ TOP (@p1)
       id
FROM   messages WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  (taken <= DATEADD(second, -30, SYSUTCDATETIME()) OR taken IS NULL)
ORDER  BY id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* lockedq.Claim */ messages
SET    handle = NEWID(),
       taken = SYSUTCDATETIME()
OUTPUT inserted.id, LOWER(CONVERT(char(36), inserted.handle)),
       CONVERT(varchar(27), inserted.taken, 126), inserted.body
FROM   OPENJSON(@p1) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Handle
DELETE /* lockedq.Complete */ messages
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           handle_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  handle = CONVERT(uniqueidentifier, handle_held)
AND    taken IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Handle
UPDATE /* lockedq.Fail */ messages
SET    handle = NULL,
       taken = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           handle_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  handle = CONVERT(uniqueidentifier, handle_held)
AND    taken IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Handle
UPDATE /* lockedq.Requeue */ messages
SET    handle = NULL,
       taken = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           handle_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  handle = CONVERT(uniqueidentifier, handle_held)
AND    taken IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Handle
UPDATE /* lockedq.Extend */ messages
SET    taken = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           handle_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  handle = CONVERT(uniqueidentifier, handle_held)
AND    taken IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* lockedq.Enqueue */ INTO messages
       (body)
OUTPUT inserted.id
VALUES (@p1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Body
SET /* lockedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO messages
       (body)
OUTPUT inserted.id
INTO   @kept
SELECT body_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           body_new nvarchar(max) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lockedq.Stats */
       count(CASE WHEN (taken <= DATEADD(second, -30, SYSUTCDATETIME()) OR taken IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN taken IS NOT NULL AND taken > DATEADD(second, -30, SYSUTCDATETIME()) THEN 1 END) AS running,
       count(CASE WHEN taken IS NOT NULL AND taken <= DATEADD(second, -30, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN taken IS NOT NULL AND taken > DATEADD(second, -30, SYSUTCDATETIME()) THEN taken END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   messages;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lockedq.Peek */ TOP (@p1)
       id, body
FROM   messages WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (taken <= DATEADD(second, -30, SYSUTCDATETIME()) OR taken IS NULL)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lockedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lockedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('handle', 'uniqueidentifier'),
                  ('taken', 'datetime2'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'messages'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* lockedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('messages')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('messages')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lockedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__messages', 'id', 'id', '')
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
           WHERE  have.object_id = OBJECT_ID('messages')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PK__messages serves already
