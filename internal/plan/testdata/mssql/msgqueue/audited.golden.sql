-- Package auditedq uses the table dbo.Audited as a queue of jobs on SQL Server 2019 and later.
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
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates Audited_audited_ready.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (Status, Enqueued, Id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Owner
SET /* auditedq.Claim */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier],
           Owner [binary](16),
           Until [smalldatetime],
           Enqueued [datetime2](3),
           Text nvarchar(max)
       );
WITH picked AS (
    SELECT TOP (@p1)
           Id, Status, Owner, Until, Enqueued, Text
    FROM   dbo.Audited WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 0
    ORDER  BY Enqueued, Id
)
UPDATE picked
SET    Status = 1,
       Owner = @p2,
       Until = DATEADD(minute, 10, SYSUTCDATETIME())
OUTPUT inserted.Id, inserted.Owner, inserted.Until, inserted.Enqueued, inserted.Text
INTO   @kept;
SELECT LOWER(CONVERT(char(36), Id)), Owner, CONVERT(varchar(19), Until, 126),
       CONVERT(varchar(27), Enqueued, 126), Text
FROM   @kept;

-- sql/complete.sql
-- complete: running to done
-- fence: Owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Owner
SET /* auditedq.Complete */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier]
       );
UPDATE dbo.Audited
SET    Status = 2,
       Until = NULL,
       Done = CAST(SYSDATETIME() AS date)
OUTPUT inserted.Id
INTO   @kept
FROM   OPENJSON(@p1) WITH (
           Id_held nvarchar(36) '$[0]',
           Owner_held varchar(max) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.Audited WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = CONVERT(uniqueidentifier, Id_held)
WHERE  Owner = CONVERT(varbinary(8000), Owner_held, 2)
AND    Status = 1;
SELECT LOWER(CONVERT(char(36), Id))
FROM   @kept;

-- sql/fail.sql
-- fail: running to failed
-- fence: Owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Owner
SET /* auditedq.Fail */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier]
       );
UPDATE dbo.Audited
SET    Status = 9,
       Until = NULL
OUTPUT inserted.Id
INTO   @kept
FROM   OPENJSON(@p1) WITH (
           Id_held nvarchar(36) '$[0]',
           Owner_held varchar(max) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.Audited WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = CONVERT(uniqueidentifier, Id_held)
WHERE  Owner = CONVERT(varbinary(8000), Owner_held, 2)
AND    Status = 1;
SELECT LOWER(CONVERT(char(36), Id))
FROM   @kept;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: Owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Owner
SET /* auditedq.Requeue */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier]
       );
UPDATE dbo.Audited
SET    Status = 0,
       Owner = NULL,
       Until = NULL
OUTPUT inserted.Id
INTO   @kept
FROM   OPENJSON(@p1) WITH (
           Id_held nvarchar(36) '$[0]',
           Owner_held varchar(max) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.Audited WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = CONVERT(uniqueidentifier, Id_held)
WHERE  Owner = CONVERT(varbinary(8000), Owner_held, 2)
AND    Status = 1;
SELECT LOWER(CONVERT(char(36), Id))
FROM   @kept;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: Owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Owner
SET /* auditedq.Extend */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier],
           Until [smalldatetime]
       );
UPDATE dbo.Audited
SET    Until = DATEADD(minute, 10, SYSUTCDATETIME())
OUTPUT inserted.Id, inserted.Until
INTO   @kept
FROM   OPENJSON(@p1) WITH (
           Id_held nvarchar(36) '$[0]',
           Owner_held varchar(max) '$[1]'
       ) AS job
       INNER LOOP JOIN dbo.Audited WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  Id = CONVERT(uniqueidentifier, Id_held)
WHERE  Owner = CONVERT(varbinary(8000), Owner_held, 2)
AND    Status = 1;
SELECT LOWER(CONVERT(char(36), Id)), CONVERT(varchar(19), Until, 126)
FROM   @kept;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (Status, Enqueued, Id), which finds the rows that somebody has by Status
-- isolation: read committed
-- arguments: 1: limit
SET /* auditedq.Recover */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier]
       );
WITH picked AS (
    SELECT TOP (@p1)
           Id, Status, Owner, Until
    FROM   dbo.Audited WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 1
    AND    Until <= SYSUTCDATETIME()
)
UPDATE picked
SET    Status = 0,
       Owner = NULL,
       Until = NULL
OUTPUT inserted.Id
INTO   @kept;
SELECT LOWER(CONVERT(char(36), Id))
FROM   @kept;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (Status, Enqueued, Id)
-- isolation: read committed
-- arguments: 1: limit
SET /* auditedq.Redrive */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier]
       );
WITH picked AS (
    SELECT TOP (@p1)
           Id, Status, Owner, Until
    FROM   dbo.Audited WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 9
)
UPDATE picked
SET    Status = 0,
       Owner = NULL,
       Until = NULL
OUTPUT inserted.Id
INTO   @kept;
SELECT LOWER(CONVERT(char(36), Id))
FROM   @kept;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (Status, Enqueued, Id); it reads those that are not old enough as well, which one on (Status, Done) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* auditedq.Purge */ picked AS (
    SELECT TOP (@p1)
           Id
    FROM   dbo.Audited WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 2
    AND    Done <= CAST(DATEADD(second, -FLOOR(@p2), SYSDATETIME()) AS date)
)
DELETE FROM picked
OUTPUT LOWER(CONVERT(char(36), deleted.Id));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (Status, Enqueued, Id)
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* auditedq.Purge */ picked AS (
    SELECT TOP (@p1)
           Id
    FROM   dbo.Audited WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  Status = 9
    AND    Enqueued <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT LOWER(CONVERT(char(36), deleted.Id));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Text
SET /* auditedq.Enqueue */ NOCOUNT ON;
DECLARE @kept TABLE (
           Id [uniqueidentifier]
       );
INSERT INTO dbo.Audited
       (Id, Enqueued, Text)
OUTPUT inserted.Id
INTO   @kept
VALUES (coalesce(CONVERT(uniqueidentifier, @p1), NEWID()), SYSUTCDATETIME(), @p2);
SELECT LOWER(CONVERT(char(36), Id))
FROM   @kept;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* auditedq.Stats */
       count(CASE WHEN Status = 0 THEN 1 END) AS ready,
       count(CASE WHEN Status = 1 THEN 1 END) AS running,
       count(CASE WHEN Status = 2 THEN 1 END) AS done,
       count(CASE WHEN Status = 9 THEN 1 END) AS failed,
       count(CASE WHEN Status = 1 AND Until <= SYSUTCDATETIME() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN Status = 0 THEN Enqueued END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   dbo.Audited;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (Status, Enqueued, Id)
SELECT /* auditedq.Backlog */
       count(*) AS ready,
       DATEDIFF_BIG(millisecond, min(Enqueued), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   dbo.Audited
WHERE  Status = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (Status, Enqueued, Id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* auditedq.Peek */ TOP (@p1)
       LOWER(CONVERT(char(36), Id)), CONVERT(varchar(27), Enqueued, 126), Text
FROM   dbo.Audited WITH (READPAST, READCOMMITTEDLOCK)
WHERE  Status = 0
ORDER  BY Enqueued, Id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* auditedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* auditedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('Id', 'uniqueidentifier'),
                  ('Status', 'tinyint'),
                  ('Owner', 'binary'),
                  ('Until', 'smalldatetime'),
                  ('Enqueued', 'datetime2'),
                  ('Done', 'date'),
                  ('Text', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'Audited'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* auditedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.Audited')
AND    have.type = 5;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* auditedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('Audited_audited_ready', 'status, enqueued, id', 'status, enqueued', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.Audited')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX Audited_audited_ready ON dbo.Audited (Status, Enqueued, Id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
