-- Package ticksq uses the table ticks as a queue of jobs on SQL Server 2019 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates ticks_ready.
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
-- note: times of column "ended" have 19 digits, which last until 11 April 2262
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, due_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* ticksq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, due_at, since, tries, wait_s
    FROM   ticks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    due_at <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME())
    ORDER  BY id
)
UPDATE picked
SET    state = 'A',
       since = DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME())
OUTPUT inserted.id, inserted.due_at, inserted.since, inserted.tries, inserted.wait_s;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Complete */ ticks
SET    state = 'D',
       ended = RIGHT(REPLICATE('0', 19) + CAST(CAST(DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 19)
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN ticks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = since_held
AND    state = 'A';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Fail */ ticks
SET    state = 'N',
       due_at = DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) + CAST((60) * 1000000.0 AS bigint) * 1000,
       since = NULL,
       tries = tries + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN ticks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = since_held
AND    state = 'A';

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Fail */ ticks
SET    state = 'F',
       tries = tries + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN ticks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = since_held
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Since
UPDATE /* ticksq.Requeue */ ticks
SET    state = 'N',
       due_at = CASE WHEN @p1 > 0.0 THEN DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) + CAST(@p1 * 1000000.0 AS bigint) * 1000 ELSE due_at END,
       since = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           since_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN ticks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = since_held
AND    state = 'A';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Extend */ ticks
SET    since = DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME())
OUTPUT inserted.id, inserted.since
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN ticks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = since_held
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* ticksq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, since, tries
    FROM   ticks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries < 2
    AND    since <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000000.0 AS bigint) * 1000
)
UPDATE picked
SET    state = 'N',
       since = NULL,
       tries = tries + 1
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* ticksq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, tries
    FROM   ticks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries >= 2
    AND    since <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000000.0 AS bigint) * 1000
)
UPDATE picked
SET    state = 'F',
       tries = tries + 1
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* ticksq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, since, tries
    FROM   ticks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
)
UPDATE picked
SET    state = 'N',
       since = NULL,
       tries = 0
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* ticksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   ticks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
    AND    ended <= RIGHT(REPLICATE('0', 19) + CAST(CASE WHEN DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000000.0 AS bigint) * 1000 < 0 THEN 0 WHEN DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000000.0 AS bigint) * 1000 > 9223372036854775807 THEN 9223372036854775807 ELSE CAST(DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000000.0 AS bigint) * 1000 AS bigint) END AS varchar(20)), 19)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, due_at); it reads those that are not old enough as well, which one on (state, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* ticksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   ticks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
    AND    since <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000000.0 AS bigint) * 1000
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new WaitS
INSERT /* ticksq.Enqueue */ INTO ticks
       (due_at, wait_s)
OUTPUT inserted.id
VALUES (coalesce(@p1, DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME())),
        coalesce(@p2, 60));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all DueAt WaitS
SET /* ticksq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO ticks
       (due_at, wait_s)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(due_at_new, DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME())),
       coalesce(wait_s_new, 60)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           due_at_new bigint '$[0]',
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
SELECT /* ticksq.Stats */
       count(CASE WHEN state = 'N' AND due_at <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'F' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND due_at > DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) THEN 1 END) AS delayed,
       count(CASE WHEN state = 'A' AND since <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) - CAST(wait_s * 1000000.0 AS bigint) * 1000 THEN 1 END) AS expired,
       DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) / 1000000000.0 - min(CASE WHEN state = 'N' AND due_at <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) THEN due_at END) / 1000000000.0 AS oldest_ready,
       DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) / 1000000000.0 - min(CASE WHEN state = 'A' THEN since END) / 1000000000.0 AS oldest_running,
       avg(CASE WHEN state = 'D' THEN CAST(ended AS bigint) / 1000000000.0 - since / 1000000000.0 END) AS mean_run
FROM   ticks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id, due_at)
SELECT /* ticksq.Backlog */
       count(CASE WHEN due_at <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) THEN 1 END) AS ready,
       count(CASE WHEN due_at > DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) THEN 1 END) AS delayed,
       DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) / 1000000000.0 - min(CASE WHEN due_at <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME()) THEN due_at END) / 1000000000.0 AS oldest_ready
FROM   ticks
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, due_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ticksq.Peek */ TOP (@p1)
       id, due_at, tries, wait_s
FROM   ticks WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    due_at <= DATEDIFF_BIG(nanosecond, '19700101', SYSUTCDATETIME())
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ticksq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ticksq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'char'),
                  ('due_at', 'bigint'),
                  ('since', 'bigint'),
                  ('tries', 'int'),
                  ('ended', 'varchar'),
                  ('wait_s', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'ticks'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* ticksq.Verify */
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
WHERE  have.object_id = OBJECT_ID('ticks')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('ticks')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ticksq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('ticks_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('ticks')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has
CREATE INDEX ticks_ready ON ticks (state, id, due_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
