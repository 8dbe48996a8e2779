-- Package cleanq uses the table compactions as a queue of jobs on SQL Server 2016 and later.
--
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates compactions_ready.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "cleaned" says which rows run (expired=claim)
-- note: no order is said: rows are taken in the order of the key, id
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: there is no Enqueue: the queue "compact" adds the rows that a claim takes here

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param oldest int64
WITH /* cleanq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, started, cleaned
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'r'
    AND    (cleaned <= DATEADD(hour, -1, SYSUTCDATETIME()) OR cleaned IS NULL)
    AND    (@p2 > id)
    ORDER  BY id
)
UPDATE picked
SET    cleaned = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.started, 126),
       CONVERT(varchar(27), inserted.cleaned, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: cleaned as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Cleaned
UPDATE /* cleanq.Complete */ compactions
SET    state = 's',
       ended = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           cleaned_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  cleaned = CONVERT(datetime2, cleaned_held, 126)
AND    state = 'r'
AND    cleaned IS NOT NULL;

-- sql/fail.sql
-- fail: running to failed
-- fence: cleaned as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Cleaned
UPDATE /* cleanq.Fail */ compactions
SET    state = 'x'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           cleaned_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  cleaned = CONVERT(datetime2, cleaned_held, 126)
AND    state = 'r'
AND    cleaned IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: cleaned as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Cleaned
UPDATE /* cleanq.Requeue */ compactions
SET    cleaned = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           cleaned_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  cleaned = CONVERT(datetime2, cleaned_held, 126)
AND    state = 'r'
AND    cleaned IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: cleaned as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Cleaned
UPDATE /* cleanq.Extend */ compactions
SET    cleaned = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.cleaned, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           cleaned_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  cleaned = CONVERT(datetime2, cleaned_held, 126)
AND    state = 'r'
AND    cleaned IS NOT NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* cleanq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, cleaned
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'x'
)
UPDATE picked
SET    state = 'r',
       cleaned = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* cleanq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 's'
    AND    ended <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, cleaned) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* cleanq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'x'
    AND    cleaned <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* cleanq.Stats */
       count(CASE WHEN state = 'r' AND (cleaned <= DATEADD(hour, -1, SYSUTCDATETIME()) OR cleaned IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'r' AND cleaned IS NOT NULL AND cleaned > DATEADD(hour, -1, SYSUTCDATETIME()) THEN 1 END) AS running,
       count(CASE WHEN state = 's' THEN 1 END) AS done,
       count(CASE WHEN state = 'x' THEN 1 END) AS failed,
       count(CASE WHEN state = 'r' AND cleaned IS NOT NULL AND cleaned <= DATEADD(hour, -1, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'r' AND cleaned IS NOT NULL AND cleaned > DATEADD(hour, -1, SYSUTCDATETIME()) THEN cleaned END), SYSUTCDATETIME()) / 1000.0 AS oldest_running,
       avg(CASE WHEN state = 's' THEN DATEDIFF_BIG(millisecond, cleaned, ended) / 1000.0 END) AS mean_run
FROM   compactions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id); it reads others as well
SELECT /* cleanq.Backlog */
       count(*) AS ready
FROM   compactions
WHERE  state = 'r'
AND    (cleaned <= DATEADD(hour, -1, SYSUTCDATETIME()) OR cleaned IS NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param oldest int64
SELECT /* cleanq.Peek */ TOP (@p1)
       id, CONVERT(varchar(27), started, 126)
FROM   compactions WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'r'
AND    (cleaned <= DATEADD(hour, -1, SYSUTCDATETIME()) OR cleaned IS NULL)
AND    (@p2 > id)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* cleanq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2016'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2016';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* cleanq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'char'),
                  ('started', 'datetime2'),
                  ('cleaned', 'datetime2'),
                  ('ended', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'compactions'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* cleanq.Verify */
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
WHERE  have.object_id = OBJECT_ID('compactions')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('compactions')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* cleanq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('compactions_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('compactions')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- compactq advises the same
CREATE INDEX compactions_ready ON compactions (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
