-- Package everyq uses the table every as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- A job never ends: Complete makes it ready again, due after the time that the row has in every. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates every_ready.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* everyq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, run_at, till, tries, every
    FROM   every WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    tries > 0
    AND    (run_at <= SYSUTCDATETIME() OR run_at IS NULL)
    ORDER  BY id
)
UPDATE picked
SET    state = 'A',
       till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.run_at, 126),
       CONVERT(varchar(27), inserted.till, 126), inserted.tries, inserted.every;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* everyq.Complete */ every
SET    state = 'N',
       run_at = DATEADD(millisecond, (every * 60 - FLOOR(every * 60)) * 1000, DATEADD(second, FLOOR(every * 60), SYSUTCDATETIME())),
       till = NULL,
       tries = 3,
       ran_at = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN every WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'A';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* everyq.Fail */ every
SET    state = 'N',
       run_at = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       till = NULL,
       tries = tries - 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN every WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'A';

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* everyq.Fail */ every
SET    state = 'N',
       till = NULL,
       tries = 0
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN every WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* everyq.Requeue */ every
SET    state = 'N',
       run_at = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())) ELSE run_at END,
       till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN every WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'A';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* everyq.Extend */ every
SET    till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.till, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN every WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* everyq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, till, tries
    FROM   every WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries > 1
    AND    till <= SYSUTCDATETIME()
)
UPDATE picked
SET    state = 'N',
       till = NULL,
       tries = tries - 1
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* everyq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, till, tries
    FROM   every WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries <= 1
    AND    till <= SYSUTCDATETIME()
)
UPDATE picked
SET    state = 'N',
       till = NULL,
       tries = 0
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
WITH /* everyq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, till, tries
    FROM   every WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    tries <= 0
)
UPDATE picked
SET    till = NULL,
       tries = 3
OUTPUT inserted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new Every
INSERT /* everyq.Enqueue */ INTO every
       (run_at, every)
OUTPUT inserted.id
VALUES (CONVERT(datetime2, @p1, 126), coalesce(@p2, 60));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all RunAt Every
SET /* everyq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO every
       (run_at, every)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(datetime2, run_at_new, 126), coalesce(every_new, 60)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           run_at_new varchar(27) '$[0]',
           every_new int '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* everyq.Stats */
       count(CASE WHEN state = 'N' AND tries > 0 AND (run_at <= SYSUTCDATETIME() OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'N' AND tries <= 0 THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND tries > 0 AND run_at > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN state = 'A' AND till <= SYSUTCDATETIME() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'N' AND tries > 0 AND (run_at <= SYSUTCDATETIME() OR run_at IS NULL) THEN run_at END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   every;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id, run_at); it reads others as well
SELECT /* everyq.Backlog */
       count(CASE WHEN (run_at <= SYSUTCDATETIME() OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN run_at > SYSUTCDATETIME() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN (run_at <= SYSUTCDATETIME() OR run_at IS NULL) THEN run_at END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   every
WHERE  state = 'N'
AND    tries > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* everyq.Peek */ TOP (@p1)
       id, CONVERT(varchar(27), run_at, 126), tries, every
FROM   every WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    tries > 0
AND    (run_at <= SYSUTCDATETIME() OR run_at IS NULL)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* everyq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* everyq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'char'),
                  ('run_at', 'datetime2'),
                  ('till', 'datetime2'),
                  ('tries', 'int'),
                  ('every', 'int'),
                  ('ran_at', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'every'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* everyq.Verify */
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
WHERE  have.object_id = OBJECT_ID('every')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('every')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* everyq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('every_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('every')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX every_ready ON every (state, id, run_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
