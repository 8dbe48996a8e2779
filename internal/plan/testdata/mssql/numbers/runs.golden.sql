-- Package runsq uses the table runs as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "held_till", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, due_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, due_at, held_till, made, body
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    (due_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) OR due_at IS NULL)
    ORDER  BY id
)
UPDATE picked
SET    state = 'A',
       held_till = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + 120
OUTPUT inserted.id, inserted.due_at, inserted.held_till, inserted.made, inserted.body;

-- sql/complete.sql
-- complete: running to done
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Complete */ runs
SET    state = 'D',
       held_till = NULL,
       ended = DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME())
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(40) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = held_till_held
AND    state = 'A';

-- sql/fail.sql
-- fail: running to failed
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'F',
       held_till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(40) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = held_till_held
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID HeldTill
UPDATE /* runsq.Requeue */ runs
SET    state = 'N',
       due_at = CASE WHEN @p1 > 0.0 THEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1) ELSE due_at END,
       held_till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(40) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = held_till_held
AND    state = 'A';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Extend */ runs
SET    held_till = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + 120
OUTPUT inserted.id, inserted.held_till
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(40) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = held_till_held
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, held_till
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    held_till <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
)
UPDATE picked
SET    state = 'N',
       held_till = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, held_till
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
)
UPDATE picked
SET    state = 'N',
       held_till = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
    AND    ended <= DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000.0 AS bigint)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
    AND    made <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(@p2)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Body
INSERT /* runsq.Enqueue */ INTO runs
       (due_at, made, body)
OUTPUT inserted.id
VALUES (@p1, DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()),
        CONVERT(varchar(8000), @p2));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all DueAt Body
SET /* runsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO runs
       (due_at, made, body)
OUTPUT inserted.id
INTO   @kept
SELECT due_at_new, DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()),
       CONVERT(varchar(8000), body_new)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           due_at_new nvarchar(40) '$[0]',
           body_new nvarchar(4000) '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(CASE WHEN state = 'N' AND (due_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'F' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND due_at > DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS delayed,
       count(CASE WHEN state = 'A' AND held_till <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS expired,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN state = 'N' AND (due_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) OR due_at IS NULL) THEN made END)) * 1.0 AS oldest_ready
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id, due_at)
SELECT /* runsq.Backlog */
       count(CASE WHEN (due_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) OR due_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN due_at > DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS delayed,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN (due_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) OR due_at IS NULL) THEN made END)) * 1.0 AS oldest_ready
FROM   runs
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, due_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */ TOP (@p1)
       id, due_at, made, body
FROM   runs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    (due_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) OR due_at IS NULL)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'char'),
                  ('due_at', 'decimal'),
                  ('held_till', 'decimal'),
                  ('made', 'float'),
                  ('ended', 'decimal'),
                  ('body', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'runs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* runsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('runs')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('runs')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('runs_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('runs')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX runs_ready ON runs (state, id, due_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
