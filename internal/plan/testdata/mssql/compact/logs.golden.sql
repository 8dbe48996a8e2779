-- Package logsq uses the table logs as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates logs_ready.
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
-- note: column "begun" is '1900-01-01 00:00:00' while nobody has the row, as its default says
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id) INCLUDE (begun, ended)
-- isolation: read committed
-- arguments: 1: limit
WITH /* logsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, begun, ended, state
    FROM   logs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 0
    AND    (begun < ended or begun = '19000101')
    ORDER  BY id
)
UPDATE picked
SET    begun = GETUTCDATE(),
       state = 1
OUTPUT inserted.id, CONVERT(varchar(23), inserted.begun, 126),
       CONVERT(varchar(23), inserted.ended, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: begun as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun
UPDATE /* logsq.Complete */ logs
SET    state = 2
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           begun_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN logs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime, begun_held, 126)
AND    state = 1;

-- sql/retry.sql
-- retry: running to ready
-- fence: begun as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun
UPDATE /* logsq.Fail */ logs
SET    begun = '1900-01-01T00:00:00',
       state = 0
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           begun_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN logs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime, begun_held, 126)
AND    state = 1;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: begun as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun
UPDATE /* logsq.Requeue */ logs
SET    begun = '1900-01-01T00:00:00',
       state = 0
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           begun_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN logs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime, begun_held, 126)
AND    state = 1;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: begun as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Begun
UPDATE /* logsq.Extend */ logs
SET    begun = GETUTCDATE()
OUTPUT inserted.id, CONVERT(varchar(23), inserted.begun, 126)
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           begun_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN logs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  begun = CONVERT(datetime, begun_held, 126)
AND    state = 1;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id) INCLUDE (begun, ended), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* logsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, begun, state
    FROM   logs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 1
    AND    begun <= DATEADD(minute, -10, GETUTCDATE())
)
UPDATE picked
SET    begun = '1900-01-01T00:00:00',
       state = 0
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id) INCLUDE (begun, ended); it reads those that are not old enough as well, which one on (state, begun) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* logsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   logs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 2
    AND    begun <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), GETUTCDATE()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Ended
INSERT /* logsq.Enqueue */ INTO logs
       (ended)
OUTPUT inserted.id
VALUES (coalesce(CONVERT(datetime, @p1, 126), '19000101'));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Ended
SET /* logsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id int
       );
INSERT INTO logs
       (ended)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(CONVERT(datetime, ended_new, 126), '19000101')
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           ended_new varchar(23) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* logsq.Stats */
       count(CASE WHEN state = 0 AND (begun < ended or begun = '19000101') THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = 1 AND begun <= DATEADD(minute, -10, GETUTCDATE()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 1 THEN begun END), GETUTCDATE()) / 1000.0 AS oldest_running
FROM   logs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id) INCLUDE (begun, ended); it reads others as well
SELECT /* logsq.Backlog */
       count(*) AS ready
FROM   logs
WHERE  state = 0
AND    (begun < ended or begun = '19000101');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id) INCLUDE (begun, ended)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* logsq.Peek */ TOP (@p1)
       id, CONVERT(varchar(23), ended, 126)
FROM   logs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 0
AND    (begun < ended or begun = '19000101')
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* logsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* logsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'int'),
                  ('begun', 'datetime'),
                  ('ended', 'datetime'),
                  ('state', 'tinyint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'logs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* logsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('logs')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('logs')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* logsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('logs_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('logs')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX logs_ready ON logs (state, id) INCLUDE (begun, ended);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
