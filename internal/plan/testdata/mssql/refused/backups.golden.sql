-- Package backupsq uses the table dbo.backups as a queue of jobs on SQL Server 2012 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates backups_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: done:=0 is only written, so nothing tells a finished row: there is no Purge of it; done=… tests it as well
-- note: on retry, column "started_at" gets '1900-01-01 00:00:00' as qgen:on says, not '1900-01-01' as qgen:claimed would
-- note: on release, column "started_at" gets '1900-01-01 00:00:00' as qgen:on says, not '1900-01-01' as qgen:claimed would
-- note: on recover, column "started_at" gets '1900-01-01 00:00:00' as qgen:on says, not '1900-01-01' as qgen:claimed would
-- note: a job that is done leaves a row as ready ones are but for column "is_completed", which a further condition on ready rows reads: where that holds, the next claim takes it again

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (is_started, started_at, id) INCLUDE (is_completed, error_number, ignored)
-- isolation: read committed
-- arguments: 1: limit, 2: param pauseValue int
WITH /* backupsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, database_name, started_at, is_started, is_completed
    FROM   dbo.backups WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  is_started = 0
    AND    (backups.ignored = 0 and (error_number is null or error_number > 0) and coalesce(note, '') <> 'off' and (is_completed = 0 or started_at < dateadd(second, -@p2, SYSUTCDATETIME())))
    ORDER  BY started_at, id
)
UPDATE picked
SET    started_at = SYSUTCDATETIME(),
       is_started = 1,
       is_completed = 0
OUTPUT inserted.id, inserted.database_name, CONVERT(varchar(27), inserted.started_at, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: started_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID StartedAt
UPDATE /* backupsq.Complete */ dbo.backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
SET    is_started = 0,
       is_completed = 1
OUTPUT inserted.id
WHERE  ((id = @p0 AND started_at = CONVERT(datetime2, @p0, 126)))
AND    is_started = 1;

-- sql/retry.sql
-- retry: running to ready
-- fence: started_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID StartedAt
UPDATE /* backupsq.Fail */ dbo.backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
SET    started_at = '1900-01-01 00:00:00',
       is_started = 0,
       is_completed = 1
OUTPUT inserted.id
WHERE  ((id = @p0 AND started_at = CONVERT(datetime2, @p0, 126)))
AND    is_started = 1;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: started_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID StartedAt
UPDATE /* backupsq.Requeue */ dbo.backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
SET    started_at = '1900-01-01 00:00:00',
       is_started = 0,
       is_completed = 1
OUTPUT inserted.id
WHERE  ((id = @p0 AND started_at = CONVERT(datetime2, @p0, 126)))
AND    is_started = 1;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: started_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID StartedAt
UPDATE /* backupsq.Extend */ dbo.backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
SET    started_at = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.started_at, 126)
WHERE  ((id = @p0 AND started_at = CONVERT(datetime2, @p0, 126)))
AND    is_started = 1;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (is_started, started_at, id) INCLUDE (is_completed, error_number, ignored)
-- isolation: read committed
-- arguments: 1: limit
WITH /* backupsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, started_at, is_started, is_completed
    FROM   dbo.backups WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  is_started = 1
    AND    started_at <= DATEADD(minute, -10, SYSUTCDATETIME())
)
UPDATE picked
SET    started_at = '1900-01-01 00:00:00',
       is_started = 0,
       is_completed = 1
OUTPUT inserted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new DatabaseName
INSERT /* backupsq.Enqueue */ INTO dbo.backups
       (database_name)
OUTPUT inserted.id
VALUES (@p1);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* backupsq.Stats */
       count(CASE WHEN is_started = 0 AND (backups.ignored = 0) AND ((error_number is null or error_number > 0)) AND (coalesce(note, '') <> 'off') THEN 1 END) AS ready,
       count(CASE WHEN is_started = 1 THEN 1 END) AS running,
       count(CASE WHEN is_started = 1 AND started_at <= DATEADD(minute, -10, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF(second, min(CASE WHEN is_started = 1 THEN started_at END), SYSUTCDATETIME()) * 1.0 AS oldest_running
FROM   dbo.backups;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (is_started, started_at, id) INCLUDE (is_completed, error_number, ignored)
-- isolation: read committed
-- arguments: 1: limit, 2: param pauseValue int
SELECT /* backupsq.Peek */ TOP (@p1)
       id, database_name, CONVERT(varchar(27), started_at, 126)
FROM   dbo.backups WITH (READPAST, READCOMMITTEDLOCK)
WHERE  is_started = 0
AND    (backups.ignored = 0 and (error_number is null or error_number > 0) and coalesce(note, '') <> 'off' and (is_completed = 0 or started_at < dateadd(second, -@p2, SYSUTCDATETIME())))
ORDER  BY started_at, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* backupsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2012'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2012';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* backupsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'int'),
                  ('database_name', 'nvarchar'),
                  ('started_at', 'datetime2'),
                  ('is_started', 'bit'),
                  ('is_completed', 'bit')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'backups'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* backupsq.Verify */
       'the isolation level of the session is above READ COMMITTED, where claims are refused (error 650); set it back'
FROM   sys.dm_exec_sessions AS have
WHERE  have.session_id = @@SPID
AND    have.transaction_isolation_level NOT IN (1, 2)
UNION  ALL
SELECT 'PARAMETERIZATION of the database is FORCED, so that no filtered index is used; ALTER DATABASE … SET PARAMETERIZATION SIMPLE'
FROM   sys.databases AS have
WHERE  have.database_id = DB_ID()
AND    have.is_parameterization_forced = 1
UNION  ALL
SELECT 'the table has a clustered columnstore index, which has no row locks'
FROM   sys.indexes AS have
WHERE  have.object_id = OBJECT_ID('dbo.backups')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.backups')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* backupsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('backups_ready', 'is_started, started_at, id', 'is_started, started_at', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.backups')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that a condition of the queue refuses are read and passed over; it also serves Recover: claims that ran out, among the rows that somebody has
CREATE INDEX backups_ready ON dbo.backups (is_started, started_at, id) INCLUDE (is_completed, error_number, ignored);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
