-- Package sandboxq uses the table sandbox as a queue of jobs on SQL Server 2019 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates sandbox_ready.
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
-- note: the fence is the count in column "run_count" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* sandboxq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, status, started, run_count, max_retry
    FROM   sandbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'N'
    AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1)
    ORDER  BY id
)
UPDATE picked
SET    status = 'A',
       started = SYSDATETIMEOFFSET(),
       run_count = run_count + 1
OUTPUT inserted.id, CONVERT(varchar(33), inserted.started, 126), inserted.run_count,
       inserted.max_retry;

-- sql/complete.sql
-- complete: running to done
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID RunCount
UPDATE /* sandboxq.Complete */ sandbox
SET    status = 'D'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           run_count_held int '$[1]'
       ) AS job
       INNER LOOP JOIN sandbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_count = run_count_held
AND    status = 'A';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID RunCount
UPDATE /* sandboxq.Fail */ sandbox
SET    status = 'N',
       started = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           run_count_held int '$[1]'
       ) AS job
       INNER LOOP JOIN sandbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_count = run_count_held
AND    status = 'A';

-- sql/fail.sql
-- fail: running to failed
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID RunCount
UPDATE /* sandboxq.Fail */ sandbox
SET    status = 'F'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           run_count_held int '$[1]'
       ) AS job
       INNER LOOP JOIN sandbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_count = run_count_held
AND    status = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID RunCount
UPDATE /* sandboxq.Requeue */ sandbox
SET    status = 'N',
       started = NULL,
       run_count = run_count - 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           run_count_held int '$[1]'
       ) AS job
       INNER LOOP JOIN sandbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_count = run_count_held
AND    status = 'A';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: run_count as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID RunCount
UPDATE /* sandboxq.Extend */ sandbox
SET    started = SYSDATETIMEOFFSET()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           run_count_held int '$[1]'
       ) AS job
       INNER LOOP JOIN sandbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_count = run_count_held
AND    status = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
WITH /* sandboxq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, status, started
    FROM   sandbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'A'
    AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1)
    AND    started <= DATEADD(minute, -5, SYSDATETIMEOFFSET())
)
UPDATE picked
SET    status = 'N',
       started = NULL
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
WITH /* sandboxq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, status
    FROM   sandbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'A'
    AND    run_count > max_retry
    AND    (max_retry IS NULL OR max_retry <> -1)
    AND    started <= DATEADD(minute, -5, SYSDATETIMEOFFSET())
)
UPDATE picked
SET    status = 'F'
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* sandboxq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, status, started, run_count
    FROM   sandbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'F'
)
UPDATE picked
SET    status = 'N',
       started = NULL,
       run_count = 0
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, started) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* sandboxq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   sandbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'D'
    AND    started <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIMEOFFSET()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, started) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* sandboxq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   sandbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'F'
    AND    started <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIMEOFFSET()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MaxRetry
INSERT /* sandboxq.Enqueue */ INTO sandbox
       (max_retry)
OUTPUT inserted.id
VALUES (@p1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all MaxRetry
SET /* sandboxq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO sandbox
       (max_retry)
OUTPUT inserted.id
INTO   @kept
SELECT max_retry_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           max_retry_new int '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sandboxq.Stats */
       count(CASE WHEN status = 'N' AND (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1) THEN 1 END) AS ready,
       count(CASE WHEN status = 'A' THEN 1 END) AS running,
       count(CASE WHEN status = 'D' THEN 1 END) AS done,
       count(CASE WHEN status = 'F' THEN 1 END) AS failed,
       count(CASE WHEN status = 'A' AND started <= DATEADD(minute, -5, SYSDATETIMEOFFSET()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 'A' THEN started END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_running
FROM   sandbox;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id); it reads others as well
SELECT /* sandboxq.Backlog */
       count(*) AS ready
FROM   sandbox
WHERE  status = 'N'
AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* sandboxq.Peek */ TOP (@p1)
       id, run_count, max_retry
FROM   sandbox WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 'N'
AND    (run_count <= max_retry OR max_retry IS NULL OR max_retry = -1)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sandboxq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* sandboxq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('status', 'char'),
                  ('started', 'datetimeoffset'),
                  ('run_count', 'int'),
                  ('max_retry', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'sandbox'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* sandboxq.Verify */
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
WHERE  have.object_id = OBJECT_ID('sandbox')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('sandbox')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sandboxq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('sandbox_ready', 'status, id', 'status', '')
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
           WHERE  have.object_id = OBJECT_ID('sandbox')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX sandbox_ready ON sandbox (status, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
