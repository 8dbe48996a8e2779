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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where (exists (select 1 from crons c where c.id = {new}.cron and c.status <> 'stop') and not exists (select 1 from runs q where q.cron = {new}.cron and q.created > {arg:seen})), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it
-- note: enqueue=absent leaves a job out where a row is like it in cron, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, cron, created, status, since
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'wait'
    ORDER  BY id
)
UPDATE picked
SET    status = 'doing',
       since = SYSUTCDATETIME()
OUTPUT inserted.id, inserted.cron, CONVERT(varchar(27), inserted.created, 126),
       CONVERT(varchar(27), inserted.since, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* runsq.Complete */ runs
SET    status = 'done'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'doing';

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* runsq.Fail */ runs
SET    status = 'failed'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'doing';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* runsq.Requeue */ runs
SET    status = 'wait',
       since = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'doing';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* runsq.Extend */ runs
SET    since = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.since, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'doing';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, status, since
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'doing'
    AND    since <= DATEADD(hour, -1, SYSUTCDATETIME())
)
UPDATE picked
SET    status = 'wait',
       since = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, status, since
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'failed'
)
UPDATE picked
SET    status = 'wait',
       since = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'done'
    AND    since <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'failed'
    AND    since <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue_alone.sql
-- enqueue: jobs are added one after the other, so that enqueue_if sees all that are there
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
DECLARE /* runsq.EnqueueMany */ @gate int;
EXEC @gate = sp_getapplock @Resource = 'enqueue runs', @LockMode = 'Exclusive', @LockOwner = 'Transaction';
IF @gate < 0 RAISERROR(N'sp_getapplock: %d', 16, 1, @gate);

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none, unless one is like it in cron, of those that are ready: then it adds none
-- locks: the new row, until commit; the rows that are like it, or the place where they would be
-- index: runs_cron (cron, status); whichever finds the rows of enqueue_if
-- isolation: read committed
-- arguments: 1: new Cron, 2: new Seen
INSERT /* runsq.Enqueue */ INTO runs
       (cron, created)
OUTPUT inserted.id
SELECT @p1, SYSUTCDATETIME()
WHERE  (exists (select 1 from crons c where c.id = @p1 and c.status <> 'stop') and not exists (select 1 from runs q where q.cron = @p1 and q.created > CONVERT(datetime2, @p2, 126)))
AND    NOT EXISTS (
           SELECT 1
           FROM   runs WITH (UPDLOCK, HOLDLOCK)
           WHERE  cron = @p1
           AND    status = 'wait');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(CASE WHEN status = 'wait' THEN 1 END) AS ready,
       count(CASE WHEN status = 'doing' THEN 1 END) AS running,
       count(CASE WHEN status = 'done' THEN 1 END) AS done,
       count(CASE WHEN status = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN status = 'doing' AND since <= DATEADD(hour, -1, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 'wait' THEN created END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 'doing' THEN since END), SYSUTCDATETIME()) / 1000.0 AS oldest_running,
       avg(CASE WHEN status = 'done' THEN DATEDIFF_BIG(millisecond, created, since) / 1000.0 END) AS mean_wait
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
SELECT /* runsq.Backlog */
       count(*) AS ready,
       DATEDIFF_BIG(millisecond, min(created), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   runs
WHERE  status = 'wait';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */ TOP (@p1)
       id, cron, CONVERT(varchar(27), created, 126)
FROM   runs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 'wait'
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
                  ('cron', 'int'),
                  ('created', 'datetime2'),
                  ('status', 'varchar'),
                  ('since', 'datetime2')
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
           VALUES ('runs_ready', 'status, id', 'status', ''),
                  ('runs_cron', 'cron', 'cron', '')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX runs_ready ON runs (status, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Enqueue: the rows that are like a new job: runs_cron serves already
