-- Package hooksq uses the table hooks as a queue of jobs on SQL Server 2019 and later.
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
-- Of the jobs that are alike in tenant, at most 2 run at once; a claim locks the running rows of each group as it counts them, and the gap where another would appear. A claim can come back with fewer jobs than are ready, and with none while others are: where another claims from a group at that moment it waits for that, leaves out the jobs of groups that are full then, and looks for no others in their place.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates hooks_ready and hooks_line.
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
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     SQL Server has no locks on numbers
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for tenant has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows of groups that are not full, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind string
SELECT /* hooksq.Claim */ TOP (@p1)
       id
FROM   hooks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'new'
AND    kind = @p2
AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT COUNT(*) FROM (SELECT TOP (2) 1 AS one
               FROM   hooks AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy') AS counted) < 2
           AND 2 > (SELECT count(*)
               FROM   hooks AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT COUNT(*) FROM (SELECT TOP (2) 1 AS one
               FROM   hooks AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = @p2
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id)) AS counted)))
ORDER  BY weight DESC, id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID, 2: param kind string
UPDATE /* hooksq.Claim */ hooks
SET    state = 'busy',
       until_at = DATEADD(minute, 5, SYSDATETIMEOFFSET())
OUTPUT inserted.id, inserted.tenant, inserted.kind,
       CONVERT(varchar(33), inserted.until_at, 126), inserted.weight
FROM   OPENJSON(@p1) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN hooks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked
WHERE  ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   hooks AS other WITH (UPDLOCK, HOLDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT COUNT(*) FROM (SELECT TOP (2) 1 AS one
               FROM   hooks AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = @p2
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id)) AS counted));

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Complete */ hooks
SET    state = 'sent',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN hooks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetimeoffset, until_at_held, 126)
AND    state = 'busy';

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Fail */ hooks
SET    state = 'dead',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN hooks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetimeoffset, until_at_held, 126)
AND    state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Requeue */ hooks
SET    state = 'new',
       until_at = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN hooks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetimeoffset, until_at_held, 126)
AND    state = 'busy';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Extend */ hooks
SET    until_at = DATEADD(minute, 5, SYSDATETIMEOFFSET())
OUTPUT inserted.id, CONVERT(varchar(33), inserted.until_at, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           until_at_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN hooks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  until_at = CONVERT(datetimeoffset, until_at_held, 126)
AND    state = 'busy';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* hooksq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, until_at
    FROM   hooks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'busy'
    AND    until_at <= SYSDATETIMEOFFSET()
)
UPDATE picked
SET    state = 'new',
       until_at = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* hooksq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, until_at
    FROM   hooks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
)
UPDATE picked
SET    state = 'new',
       until_at = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* hooksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   hooks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'sent'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* hooksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   hooks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Tenant, 2: new Kind, 3: new Weight
INSERT /* hooksq.Enqueue */ INTO hooks
       (tenant, kind, weight)
OUTPUT inserted.id
VALUES (@p1, @p2, coalesce(@p3, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Tenant Kind Weight
SET /* hooksq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO hooks
       (tenant, kind, weight)
OUTPUT inserted.id
INTO   @kept
SELECT tenant_new, kind_new, coalesce(weight_new, 0)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           tenant_new nvarchar(4000) '$[0]',
           kind_new nvarchar(4000) '$[1]',
           weight_new int '$[2]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* hooksq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND until_at <= SYSDATETIMEOFFSET() THEN 1 END) AS expired
FROM   hooks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* hooksq.StatsOf */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND until_at <= SYSDATETIMEOFFSET() THEN 1 END) AS expired
FROM   hooks
WHERE  kind = @p1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (state, kind, weight DESC, id)
SELECT /* hooksq.Backlog */
       kind,
       count(*) AS ready
FROM   hooks
WHERE  state = 'new'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind string
SELECT /* hooksq.Peek */ TOP (@p1)
       id, tenant, kind, weight
FROM   hooks WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
AND    kind = @p2
AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT COUNT(*) FROM (SELECT TOP (2) 1 AS one
               FROM   hooks AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy') AS counted) < 2
           AND 2 > (SELECT count(*)
               FROM   hooks AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT COUNT(*) FROM (SELECT TOP (2) 1 AS one
               FROM   hooks AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = @p2
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id)) AS counted)))
ORDER  BY weight DESC, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* hooksq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* hooksq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('tenant', 'nvarchar'),
                  ('kind', 'nvarchar'),
                  ('state', 'nvarchar'),
                  ('until_at', 'datetimeoffset'),
                  ('weight', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'hooks'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* hooksq.Verify */
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
WHERE  have.object_id = OBJECT_ID('hooks')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('hooks')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* hooksq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('hooks_ready', 'state, kind, weight desc, id', 'state, kind, weight desc', ''),
                  ('hooks_line', 'tenant, state, weight desc, id', 'tenant, state, weight desc', '')
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
           WHERE  have.object_id = OBJECT_ID('hooks')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX hooks_ready ON hooks (state, kind, weight DESC, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Claim: who is before a row in its group, and which of them run
CREATE INDEX hooks_line ON hooks (tenant, state, weight DESC, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
