-- Package conversionsq uses the table conversions as a queue of jobs on SQL Server 2019 and later.
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
-- Of all jobs of the queue, at most 4 run at once; a claim locks a number that stands for the queue, then counts what is running. When as many run as may, Claim returns no jobs. Claims follow one another: each waits until the one before it is committed, so a transaction of the caller's own that claims is to be short.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates conversions_ready.
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
--   pop          it writes no running state, so the running rows of the queue cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_gate.sql
-- claim: one at a time, so that what runs can be counted
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
DECLARE /* conversionsq.Claim */ @gate int;
EXEC @gate = sp_getapplock @Resource = 'conversions 0', @LockMode = 'Exclusive', @LockOwner = 'Transaction';
SELECT 1
WHERE  @gate >= 0;

-- sql/claim_room.sql
-- claim: how many more rows may run
-- locks: none
-- index: (state, weight DESC, id)
-- isolation: read committed
SELECT /* conversionsq.Claim */
       4 - (
           SELECT count(*)
           FROM   conversions WITH (READCOMMITTEDLOCK)
           WHERE  state = 'busy'
       );

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* conversionsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, until_at, weight
    FROM   conversions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY weight DESC, id
)
UPDATE picked
SET    state = 'busy',
       until_at = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.until_at, 126), inserted.weight;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* conversionsq.Complete */ conversions
SET    state = 'over',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN conversions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetime2, until_at_held, 126)
AND    state = 'busy';

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* conversionsq.Fail */ conversions
SET    state = 'dead',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN conversions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetime2, until_at_held, 126)
AND    state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* conversionsq.Requeue */ conversions
SET    state = 'new',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN conversions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetime2, until_at_held, 126)
AND    state = 'busy';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* conversionsq.Extend */ conversions
SET    until_at = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.until_at, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN conversions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetime2, until_at_held, 126)
AND    state = 'busy';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* conversionsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, until_at
    FROM   conversions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'busy'
    AND    until_at <= SYSUTCDATETIME()
)
UPDATE picked
SET    state = 'new',
       until_at = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* conversionsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, until_at
    FROM   conversions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
)
UPDATE picked
SET    state = 'new',
       until_at = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* conversionsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   conversions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'over'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* conversionsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   conversions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Weight
INSERT /* conversionsq.Enqueue */ INTO conversions
       (weight)
OUTPUT inserted.id
VALUES (coalesce(@p1, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Weight
SET /* conversionsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO conversions
       (weight)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(weight_new, 0)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           weight_new int '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* conversionsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND until_at <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   conversions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, weight DESC, id)
SELECT /* conversionsq.Backlog */
       count(*) AS ready
FROM   conversions
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* conversionsq.Peek */ TOP (@p1)
       id, weight
FROM   conversions WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY weight DESC, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* conversionsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* conversionsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'varchar'),
                  ('until_at', 'datetime2'),
                  ('weight', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'conversions'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* conversionsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('conversions')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('conversions')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* conversionsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('conversions_ready', 'state, weight desc, id', 'state, weight desc', '')
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
           WHERE  have.object_id = OBJECT_ID('conversions')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few; it also serves Claim: counts the running rows
CREATE INDEX conversions_ready ON conversions (state, weight DESC, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
