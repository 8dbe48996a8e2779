-- Package itemsq uses the table items as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        SQL Server has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     SQL Server has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: column "expires" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Mark
WITH /* itemsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, available, expires, due_at, remaining, mark
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  available IN (1, 0)
    AND    (expires <= SYSDATETIMEOFFSET() OR available = 1)
    AND    remaining > 0
    AND    (due_at <= SYSDATETIMEOFFSET() OR due_at IS NULL)
    ORDER  BY id
)
UPDATE picked
SET    available = 0,
       expires = DATEADD(minute, 5, SYSDATETIMEOFFSET()),
       remaining = remaining - 1,
       mark = @p2
OUTPUT inserted.id, CONVERT(varchar(33), inserted.expires, 126),
       CONVERT(varchar(33), inserted.due_at, 126), inserted.remaining,
       LOWER(CONVERT(char(36), inserted.mark));

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
DELETE /* itemsq.Complete */ items
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  mark = CONVERT(uniqueidentifier, mark_held)
AND    available = 0;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Mark
UPDATE /* itemsq.Fail */ items
SET    available = 1,
       expires = NULL,
       due_at = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())),
       mark = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  mark = CONVERT(uniqueidentifier, mark_held)
AND    available = 0;

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
UPDATE /* itemsq.Fail */ items
SET    available = 1,
       expires = NULL,
       remaining = 0,
       mark = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  mark = CONVERT(uniqueidentifier, mark_held)
AND    available = 0;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Mark
UPDATE /* itemsq.Requeue */ items
SET    available = 1,
       expires = NULL,
       due_at = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())) ELSE due_at END,
       remaining = remaining + 1,
       mark = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  mark = CONVERT(uniqueidentifier, mark_held)
AND    available = 0;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
UPDATE /* itemsq.Extend */ items
SET    expires = DATEADD(minute, 5, SYSDATETIMEOFFSET())
OUTPUT inserted.id, CONVERT(varchar(33), inserted.expires, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN items WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  mark = CONVERT(uniqueidentifier, mark_held)
AND    available = 0;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* itemsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, available, expires, remaining, mark
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  available IN (1, 0)
    AND    (expires <= SYSDATETIMEOFFSET() OR available = 1)
    AND    remaining <= 0
)
UPDATE picked
SET    available = 1,
       expires = NULL,
       remaining = 5,
       mark = NULL
OUTPUT inserted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* itemsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   items WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  available IN (1, 0)
    AND    (expires <= SYSDATETIMEOFFSET() OR available = 1)
    AND    remaining <= 0
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt
INSERT /* itemsq.Enqueue */ INTO items
       (due_at)
OUTPUT inserted.id
VALUES (CONVERT(datetimeoffset, @p1, 126));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all DueAt
SET /* itemsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO items
       (due_at)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(datetimeoffset, due_at_new, 126)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           due_at_new varchar(33) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(CASE WHEN available IN (1, 0) AND (expires <= SYSDATETIMEOFFSET() OR available = 1) AND remaining > 0 AND (due_at <= SYSDATETIMEOFFSET() OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN available = 0 AND expires > SYSDATETIMEOFFSET() THEN 1 END) AS running,
       count(CASE WHEN available IN (1, 0) AND (expires <= SYSDATETIMEOFFSET() OR available = 1) AND remaining <= 0 THEN 1 END) AS failed,
       count(CASE WHEN available IN (1, 0) AND remaining > 0 AND due_at > SYSDATETIMEOFFSET() THEN 1 END) AS delayed,
       count(CASE WHEN available = 0 AND expires <= SYSDATETIMEOFFSET() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN available IN (1, 0) AND (expires <= SYSDATETIMEOFFSET() OR available = 1) AND remaining > 0 AND (due_at <= SYSDATETIMEOFFSET() OR due_at IS NULL) THEN due_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   items;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Backlog */
       count(CASE WHEN (expires <= SYSDATETIMEOFFSET() OR available = 1) AND (due_at <= SYSDATETIMEOFFSET() OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN due_at > SYSDATETIMEOFFSET() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN (expires <= SYSDATETIMEOFFSET() OR available = 1) AND (due_at <= SYSDATETIMEOFFSET() OR due_at IS NULL) THEN due_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   items
WHERE  available IN (1, 0)
AND    remaining > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* itemsq.Peek */ TOP (@p1)
       id, CONVERT(varchar(33), due_at, 126), remaining
FROM   items WITH (READPAST, READCOMMITTEDLOCK)
WHERE  available IN (1, 0)
AND    (expires <= SYSDATETIMEOFFSET() OR available = 1)
AND    remaining > 0
AND    (due_at <= SYSDATETIMEOFFSET() OR due_at IS NULL)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* itemsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('available', 'int'),
                  ('expires', 'datetimeoffset'),
                  ('due_at', 'datetimeoffset'),
                  ('remaining', 'int'),
                  ('mark', 'uniqueidentifier')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'items'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* itemsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('items')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('items')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* itemsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__items', 'id', 'id', '')
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
           WHERE  have.object_id = OBJECT_ID('items')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over; rows that wait for their time are read and passed over: PK__items serves already
