-- Package studiesq uses the table dbo.studies as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its worker starts again
-- 	running  --Recover---------> failed, when its worker starts again and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until a worker of its name starts; then Recover makes them ready again, and those without tries left failed.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows that are alike in column "due_at" are taken as the index studies_due has them: in the order of the key as well, SQL Server would sort all ready rows for each claim

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: studies_due (due_at, state, kind)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Worker
WITH /* studiesq.Claim */ picked AS (
    SELECT TOP (@p1)
           guid, due_at, state, kind, worker, tries
    FROM   dbo.studies WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state IN (200, 100)
    AND    due_at <= GETDATE()
    ORDER  BY due_at
)
UPDATE picked
SET    state = 201,
       worker = @p2,
       tries = tries + 1
OUTPUT LOWER(CONVERT(char(36), inserted.guid)), CONVERT(varchar(23), inserted.due_at, 126),
       inserted.kind, inserted.worker, inserted.tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all GUID Tries Worker
DELETE /* studiesq.Complete */ dbo.studies
OUTPUT LOWER(CONVERT(char(36), deleted.guid))
FROM   OPENJSON(@p1) WITH (
           guid_held nvarchar(36) '$[0]',
           tries_held int '$[1]',
           worker_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.studies WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  guid = CONVERT(uniqueidentifier, guid_held)
WHERE  tries = tries_held
AND    worker = CONVERT(varchar(8000), worker_held)
AND    state = 201;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all GUID Tries Worker
UPDATE /* studiesq.Fail */ dbo.studies
SET    due_at = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), GETDATE())),
       state = 200,
       worker = NULL
OUTPUT LOWER(CONVERT(char(36), inserted.guid))
FROM   OPENJSON(@p2) WITH (
           guid_held nvarchar(36) '$[0]',
           tries_held int '$[1]',
           worker_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.studies WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  guid = CONVERT(uniqueidentifier, guid_held)
WHERE  tries = tries_held
AND    worker = CONVERT(varchar(8000), worker_held)
AND    state = 201;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all GUID Tries Worker
UPDATE /* studiesq.Fail */ dbo.studies
SET    state = 203
OUTPUT LOWER(CONVERT(char(36), inserted.guid))
FROM   OPENJSON(@p1) WITH (
           guid_held nvarchar(36) '$[0]',
           tries_held int '$[1]',
           worker_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.studies WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  guid = CONVERT(uniqueidentifier, guid_held)
WHERE  tries = tries_held
AND    worker = CONVERT(varchar(8000), worker_held)
AND    state = 201;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all GUID Tries Worker
UPDATE /* studiesq.Requeue */ dbo.studies
SET    due_at = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), GETDATE())) ELSE due_at END,
       state = 200,
       worker = NULL,
       tries = tries - 1
OUTPUT LOWER(CONVERT(char(36), inserted.guid))
FROM   OPENJSON(@p2) WITH (
           guid_held nvarchar(36) '$[0]',
           tries_held int '$[1]',
           worker_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.studies WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  guid = CONVERT(uniqueidentifier, guid_held)
WHERE  tries = tries_held
AND    worker = CONVERT(varchar(8000), worker_held)
AND    state = 201;

-- sql/recover.sql
-- recover: running by this worker to ready, when it starts
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit, 2: worker Worker
WITH /* studiesq.Recover */ picked AS (
    SELECT TOP (@p1)
           guid, state, worker
    FROM   dbo.studies WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 201
    AND    tries < 3
    AND    worker = @p2
)
UPDATE picked
SET    state = 200,
       worker = NULL
OUTPUT LOWER(CONVERT(char(36), inserted.guid));

-- sql/recover_failed.sql
-- recover_failed: running by this worker with no tries left to failed, when it starts
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit, 2: worker Worker
WITH /* studiesq.Recover */ picked AS (
    SELECT TOP (@p1)
           guid, state
    FROM   dbo.studies WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 201
    AND    tries >= 3
    AND    worker = @p2
)
UPDATE picked
SET    state = 203
OUTPUT LOWER(CONVERT(char(36), inserted.guid));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* studiesq.Redrive */ picked AS (
    SELECT TOP (@p1)
           guid, state, worker, tries
    FROM   dbo.studies WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 203
)
UPDATE picked
SET    state = 200,
       worker = NULL,
       tries = 0
OUTPUT LOWER(CONVERT(char(36), inserted.guid));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (state) would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* studiesq.Purge */ picked AS (
    SELECT TOP (@p1)
           guid
    FROM   dbo.studies WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 203
)
DELETE FROM picked
OUTPUT LOWER(CONVERT(char(36), deleted.guid));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new GUID, 2: new DueAt, 3: new Kind
INSERT /* studiesq.Enqueue */ INTO dbo.studies
       (guid, due_at, state, kind)
OUTPUT LOWER(CONVERT(char(36), inserted.guid))
VALUES (coalesce(CONVERT(uniqueidentifier, @p1), NEWID()),
        coalesce(CONVERT(datetime, @p2, 126), GETDATE()), 200, @p3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* studiesq.Stats */
       count(CASE WHEN state IN (200, 100) AND due_at <= GETDATE() THEN 1 END) AS ready,
       count(CASE WHEN state = 201 THEN 1 END) AS running,
       count(CASE WHEN state = 203 THEN 1 END) AS failed,
       count(CASE WHEN state IN (200, 100) AND due_at > GETDATE() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state IN (200, 100) AND due_at <= GETDATE() THEN due_at END), GETDATE()) / 1000.0 AS oldest_ready
FROM   dbo.studies;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* studiesq.Backlog */
       count(CASE WHEN due_at <= GETDATE() THEN 1 END) AS ready,
       count(CASE WHEN due_at > GETDATE() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN due_at <= GETDATE() THEN due_at END), GETDATE()) / 1000.0 AS oldest_ready
FROM   dbo.studies
WHERE  state IN (200, 100);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: studies_due (due_at, state, kind)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* studiesq.Peek */ TOP (@p1)
       LOWER(CONVERT(char(36), guid)), CONVERT(varchar(23), due_at, 126), kind, tries
FROM   dbo.studies WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state IN (200, 100)
AND    due_at <= GETDATE()
ORDER  BY due_at;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* studiesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* studiesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('guid', 'uniqueidentifier'),
                  ('due_at', 'datetime'),
                  ('state', 'smallint'),
                  ('kind', 'smallint'),
                  ('worker', 'varchar'),
                  ('tries', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'studies'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* studiesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.studies')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.studies')
AND    have.is_disabled = 0;

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock DueAt
SELECT /* studiesq.Verify */
       'the clock of the database reads ' + CONVERT(varchar(23), GETDATE(), 126) + ', and that of the program does not'
WHERE  DATEDIFF_BIG(millisecond, CONVERT(datetime, @p1, 126), GETDATE()) / 1000.0 NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* studiesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('studies_due', 'due_at', 'due_at', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.studies')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: studies_due serves already
