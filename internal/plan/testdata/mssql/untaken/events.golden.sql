-- Package eventsq uses the table events as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready and events_expired.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "holder" does: a row is ready only while holder = '', and not where something else has left a value there
-- note: the fence compares column "held_at", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, holder, rank, id)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
WITH /* eventsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, rank, holder, held_at
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'waiting'
    AND    holder = ''
    ORDER  BY rank, id
)
UPDATE picked
SET    holder = @p2,
       held_at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
OUTPUT inserted.id, inserted.rank, inserted.holder, inserted.held_at;

-- sql/start.sql
-- start: claimed to running
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Start */ events
SET    state = 'busy'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_at_held bigint '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_at = held_at_held
AND    holder = CONVERT(varchar(8000), holder_held)
AND    state = 'waiting'
AND    holder <> '';

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Complete */ events
SET    state = 'complete'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_at_held bigint '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_at = held_at_held
AND    holder = CONVERT(varchar(8000), holder_held)
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Fail */ events
SET    state = 'failed'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_at_held bigint '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_at = held_at_held
AND    holder = CONVERT(varchar(8000), holder_held)
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Requeue */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_at_held bigint '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_at = held_at_held
AND    holder = CONVERT(varchar(8000), holder_held)
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Extend */ events
SET    held_at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
OUTPUT inserted.id, inserted.held_at
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_at_held bigint '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_at = held_at_held
AND    holder = CONVERT(varchar(8000), holder_held)
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (held_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, holder, held_at
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state IN ('waiting', 'busy')
    AND    holder <> ''
    AND    held_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 300
    AND    held_at > 0
)
UPDATE picked
SET    state = 'waiting',
       holder = '',
       held_at = 0
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, holder, rank, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, holder, held_at
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
UPDATE picked
SET    state = 'waiting',
       holder = '',
       held_at = 0
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, holder, rank, id); it reads those that are not old enough as well, which one on (state, held_at) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* eventsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'complete'
    AND    held_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(@p2)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, holder, rank, id); it reads those that are not old enough as well, which one on (state, held_at) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* eventsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
    AND    held_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(@p2)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Rank
INSERT /* eventsq.Enqueue */ INTO events
       (rank, state, holder)
OUTPUT inserted.id
VALUES (@p1, 'waiting', '');

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Rank
SET /* eventsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO events
       (rank, state, holder)
OUTPUT inserted.id
INTO   @kept
SELECT rank_new, 'waiting', ''
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           rank_new int '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(CASE WHEN state = 'waiting' AND holder = '' THEN 1 END) AS ready,
       count(CASE WHEN state = 'waiting' AND holder <> '' THEN 1 END) AS claimed,
       count(CASE WHEN state = 'busy' AND holder <> '' THEN 1 END) AS running,
       count(CASE WHEN state = 'complete' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state IN ('waiting', 'busy') AND holder <> '' AND held_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 300 AND held_at > 0 THEN 1 END) AS expired,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN state IN ('waiting', 'busy') AND holder <> '' THEN held_at END)) * 1.0 AS oldest_running
FROM   events;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, holder, rank, id)
SELECT /* eventsq.Backlog */
       count(*) AS ready
FROM   events
WHERE  state = 'waiting'
AND    holder = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, holder, rank, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */ TOP (@p1)
       id, rank, holder, held_at
FROM   events WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY rank, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('rank', 'int'),
                  ('state', 'varchar'),
                  ('holder', 'varchar'),
                  ('held_at', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'events'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* eventsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('events')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('events')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('events_ready', 'state, holder, rank, id', 'state, holder, rank', ''),
                  ('events_expired', 'held_at', 'held_at', '')
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
           WHERE  have.object_id = OBJECT_ID('events')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX events_ready ON events (state, holder, rank, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Recover: claims that ran out
CREATE INDEX events_expired ON events (held_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
