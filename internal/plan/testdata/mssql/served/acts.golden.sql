-- Package actsq uses the table dbo.acts as a queue of jobs on SQL Server 2019 and later.
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
-- It sorts the ready rows of what is asked for, which locks all of them until it commits, and passes over rows that others hold: another claim of the same finds none meanwhile. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates acts_ready.
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
-- note: on retry, column "state" gets 'RETRYING' as qgen:on says, not null as qgen:status would
-- note: on recover, column "state" gets 'RETRYING' as qgen:on says, not null as qgen:status would
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: what makes a row ready again (Redrive) writes gone = 0, whatever stood there meanwhile: where that column only keeps a job from being claimed, ready_if: "gone = 0" asks it, and no step writes it

-- sql/claim.sql
-- claim: ready to running
-- locks: all ready rows of what is asked for, which are sorted first, until commit; passes over rows that are locked
-- index: (state, host, ended); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit, 2: param host string
WITH /* actsq.Claim */ picked AS (
    SELECT TOP (@p1)
           host, id, added, state, began
    FROM   dbo.acts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (state IS NULL OR state = 'RETRYING')
    AND    gone = 0
    AND    (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL)
    AND    host = CONVERT(varchar(8000), @p2)
    ORDER  BY added, host, id
)
UPDATE picked
SET    state = 'PROCESSING',
       began = SYSDATETIME()
OUTPUT inserted.host, inserted.id, CONVERT(varchar(27), inserted.added, 126),
       CONVERT(varchar(27), inserted.began, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Host ID Began
UPDATE /* actsq.Complete */ dbo.acts
SET    state = 'OK',
       ended = SYSDATETIME()
OUTPUT inserted.host, inserted.id
FROM   OPENJSON(@p1) WITH (
           host_held nvarchar(4000) '$[0]',
           id_held bigint '$[1]',
           began_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.acts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  host = CONVERT(varchar(8000), host_held)
       AND id = id_held
WHERE  began = CONVERT(datetime2, began_held, 126)
AND    state = 'PROCESSING';

-- sql/fail.sql
-- fail: running to failed
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Host ID Began
UPDATE /* actsq.Fail */ dbo.acts
SET    state = 'ERROR',
       ended = SYSDATETIME()
OUTPUT inserted.host, inserted.id
FROM   OPENJSON(@p1) WITH (
           host_held nvarchar(4000) '$[0]',
           id_held bigint '$[1]',
           began_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.acts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  host = CONVERT(varchar(8000), host_held)
       AND id = id_held
WHERE  began = CONVERT(datetime2, began_held, 126)
AND    state = 'PROCESSING';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Host ID Began
UPDATE /* actsq.Requeue */ dbo.acts
SET    state = NULL,
       began = NULL
OUTPUT inserted.host, inserted.id
FROM   OPENJSON(@p1) WITH (
           host_held nvarchar(4000) '$[0]',
           id_held bigint '$[1]',
           began_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.acts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  host = CONVERT(varchar(8000), host_held)
       AND id = id_held
WHERE  began = CONVERT(datetime2, began_held, 126)
AND    state = 'PROCESSING';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Host ID Began
UPDATE /* actsq.Extend */ dbo.acts
SET    began = SYSDATETIME()
OUTPUT inserted.host, inserted.id, CONVERT(varchar(27), inserted.began, 126)
FROM   OPENJSON(@p1) WITH (
           host_held nvarchar(4000) '$[0]',
           id_held bigint '$[1]',
           began_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN dbo.acts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  host = CONVERT(varchar(8000), host_held)
       AND id = id_held
WHERE  began = CONVERT(datetime2, began_held, 126)
AND    state = 'PROCESSING';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, host, ended), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* actsq.Recover */ picked AS (
    SELECT TOP (@p1)
           host, id, state, began
    FROM   dbo.acts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'PROCESSING'
    AND    began <= DATEADD(minute, -30, SYSDATETIME())
)
UPDATE picked
SET    state = 'RETRYING',
       began = NULL
OUTPUT inserted.host, inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, host, ended)
-- isolation: read committed
-- arguments: 1: limit
WITH /* actsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           host, id, state, began, ended, gone
    FROM   dbo.acts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'ERROR'
)
UPDATE picked
SET    state = NULL,
       began = NULL,
       ended = NULL,
       gone = 0
OUTPUT inserted.host, inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, host, ended); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* actsq.Purge */ picked AS (
    SELECT TOP (@p1)
           host, id
    FROM   dbo.acts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'OK'
    AND    ended <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.host, deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, host, ended); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* actsq.Purge */ picked AS (
    SELECT TOP (@p1)
           host, id
    FROM   dbo.acts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'ERROR'
    AND    ended <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.host, deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Host
INSERT /* actsq.Enqueue */ INTO dbo.acts
       (host, added)
OUTPUT inserted.host, inserted.id
VALUES (CONVERT(varchar(8000), @p1), SYSDATETIME());

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* actsq.Stats */
       count(CASE WHEN (state IS NULL OR state = 'RETRYING') AND gone = 0 AND (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'PROCESSING' THEN 1 END) AS running,
       count(CASE WHEN state = 'OK' THEN 1 END) AS done,
       count(CASE WHEN state = 'ERROR' THEN 1 END) AS failed,
       count(CASE WHEN (state IS NULL OR state = 'RETRYING') AND gone = 0 AND ended > DATEADD(minute, -5, SYSDATETIME()) THEN 1 END) AS delayed,
       count(CASE WHEN state = 'PROCESSING' AND began <= DATEADD(minute, -30, SYSDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN (state IS NULL OR state = 'RETRYING') AND gone = 0 AND (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL) THEN added END), SYSDATETIME()) / 1000.0 AS oldest_ready,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'PROCESSING' THEN began END), SYSDATETIME()) / 1000.0 AS oldest_running,
       avg(CASE WHEN state = 'OK' THEN DATEDIFF_BIG(millisecond, added, began) / 1000.0 END) AS mean_wait,
       avg(CASE WHEN state = 'OK' THEN DATEDIFF_BIG(millisecond, began, ended) / 1000.0 END) AS mean_run
FROM   dbo.acts;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same host is for
-- locks: none
-- index: the primary key (host, id)
-- arguments: 1: param host string
SELECT /* actsq.StatsOf */
       count(CASE WHEN (state IS NULL OR state = 'RETRYING') AND gone = 0 AND (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'PROCESSING' THEN 1 END) AS running,
       count(CASE WHEN state = 'OK' THEN 1 END) AS done,
       count(CASE WHEN state = 'ERROR' THEN 1 END) AS failed,
       count(CASE WHEN (state IS NULL OR state = 'RETRYING') AND gone = 0 AND ended > DATEADD(minute, -5, SYSDATETIME()) THEN 1 END) AS delayed,
       count(CASE WHEN state = 'PROCESSING' AND began <= DATEADD(minute, -30, SYSDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN (state IS NULL OR state = 'RETRYING') AND gone = 0 AND (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL) THEN added END), SYSDATETIME()) / 1000.0 AS oldest_ready,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'PROCESSING' THEN began END), SYSDATETIME()) / 1000.0 AS oldest_running,
       avg(CASE WHEN state = 'OK' THEN DATEDIFF_BIG(millisecond, added, began) / 1000.0 END) AS mean_wait,
       avg(CASE WHEN state = 'OK' THEN DATEDIFF_BIG(millisecond, began, ended) / 1000.0 END) AS mean_run
FROM   dbo.acts
WHERE  host = CONVERT(varchar(8000), @p1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by host
-- locks: none
-- index: none; it reads the whole table
SELECT /* actsq.Backlog */
       host,
       count(CASE WHEN (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN ended > DATEADD(minute, -5, SYSDATETIME()) THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL) THEN added END), SYSDATETIME()) / 1000.0 AS oldest_ready
FROM   dbo.acts
WHERE  (state IS NULL OR state = 'RETRYING')
AND    gone = 0
GROUP  BY host
ORDER  BY host;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, host, ended); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit, 2: param host string
SELECT /* actsq.Peek */ TOP (@p1)
       host, id, CONVERT(varchar(27), added, 126)
FROM   dbo.acts WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (state IS NULL OR state = 'RETRYING')
AND    gone = 0
AND    (ended <= DATEADD(minute, -5, SYSDATETIME()) OR ended IS NULL)
AND    host = CONVERT(varchar(8000), @p2)
ORDER  BY added, host, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* actsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* actsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('host', 'varchar'),
                  ('id', 'bigint'),
                  ('added', 'datetime2'),
                  ('state', 'varchar'),
                  ('began', 'datetime2'),
                  ('ended', 'datetime2'),
                  ('gone', 'bit')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'acts'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* actsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.acts')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.acts')
AND    have.is_disabled = 0;

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock Added
SELECT /* actsq.Verify */
       'the clock of the database reads ' + CONVERT(varchar(27), SYSDATETIME(), 126) + ', and that of the program does not'
WHERE  DATEDIFF_BIG(millisecond, CONVERT(datetime2, @p1, 126), SYSDATETIME()) / 1000.0 NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* actsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('acts_ready', 'state, host', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.acts')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those; it also serves Recover: rows that somebody has, which are few
CREATE INDEX acts_ready ON dbo.acts (state, host, ended);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
