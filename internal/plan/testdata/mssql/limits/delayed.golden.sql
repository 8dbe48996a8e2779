-- Package delayedq uses the table delayed as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates delayed_ready.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* delayedq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, locked_at, attempts, max_attempts
    FROM   delayed WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    ORDER  BY id
)
UPDATE picked
SET    state = 'A',
       locked_at = SYSDATETIMEOFFSET()
OUTPUT inserted.id, CONVERT(varchar(33), inserted.locked_at, 126), inserted.attempts,
       inserted.max_attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Complete */ delayed
SET    state = 'D'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           locked_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN delayed WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  locked_at = CONVERT(datetimeoffset, locked_at_held, 126)
AND    state = 'A';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Fail */ delayed
SET    state = 'N',
       locked_at = NULL,
       attempts = coalesce(attempts, 0) + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           locked_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN delayed WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  locked_at = CONVERT(datetimeoffset, locked_at_held, 126)
AND    state = 'A';

-- sql/fail.sql
-- fail: running to failed
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Fail */ delayed
SET    state = 'F',
       attempts = coalesce(attempts, 0) + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           locked_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN delayed WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  locked_at = CONVERT(datetimeoffset, locked_at_held, 126)
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Requeue */ delayed
SET    state = 'N',
       locked_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           locked_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN delayed WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  locked_at = CONVERT(datetimeoffset, locked_at_held, 126)
AND    state = 'A';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Extend */ delayed
SET    locked_at = SYSDATETIMEOFFSET()
OUTPUT inserted.id, CONVERT(varchar(33), inserted.locked_at, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           locked_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN delayed WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  locked_at = CONVERT(datetimeoffset, locked_at_held, 126)
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* delayedq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, locked_at, attempts
    FROM   delayed WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    (attempts + 1 < coalesce(max_attempts, 15) OR attempts IS NULL OR max_attempts = 0)
    AND    (attempts IS NOT NULL OR max_attempts > 1 OR max_attempts IS NULL OR max_attempts = 0)
    AND    locked_at <= DATEADD(minute, -5, SYSDATETIMEOFFSET())
)
UPDATE picked
SET    state = 'N',
       locked_at = NULL,
       attempts = coalesce(attempts, 0) + 1
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* delayedq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, attempts
    FROM   delayed WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    (attempts + 1 >= coalesce(max_attempts, 15) OR attempts IS NULL)
    AND    (attempts IS NOT NULL OR max_attempts <= 1)
    AND    (max_attempts IS NULL OR max_attempts <> 0)
    AND    locked_at <= DATEADD(minute, -5, SYSDATETIMEOFFSET())
)
UPDATE picked
SET    state = 'F',
       attempts = coalesce(attempts, 0) + 1
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* delayedq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, locked_at, attempts
    FROM   delayed WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
)
UPDATE picked
SET    state = 'N',
       locked_at = NULL,
       attempts = 0
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, locked_at) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* delayedq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   delayed WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
    AND    locked_at <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIMEOFFSET()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, locked_at) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* delayedq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   delayed WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
    AND    locked_at <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIMEOFFSET()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MaxAttempts
INSERT /* delayedq.Enqueue */ INTO delayed
       (attempts, max_attempts)
OUTPUT inserted.id
VALUES (0, @p1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all MaxAttempts
SET /* delayedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO delayed
       (attempts, max_attempts)
OUTPUT inserted.id
INTO   @kept
SELECT 0, max_attempts_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           max_attempts_new tinyint '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* delayedq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'F' THEN 1 END) AS failed,
       count(CASE WHEN state = 'A' AND locked_at <= DATEADD(minute, -5, SYSDATETIMEOFFSET()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'A' THEN locked_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_running
FROM   delayed;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* delayedq.Backlog */
       count(*) AS ready
FROM   delayed
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* delayedq.Peek */ TOP (@p1)
       id, attempts, max_attempts
FROM   delayed WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* delayedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* delayedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'char'),
                  ('locked_at', 'datetimeoffset'),
                  ('attempts', 'tinyint'),
                  ('max_attempts', 'tinyint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'delayed'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* delayedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('delayed')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('delayed')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* delayedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('delayed_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('delayed')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX delayed_ready ON delayed (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
