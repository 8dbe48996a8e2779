-- Package compactq uses the table compactions as a queue of jobs on SQL Server 2016 and later.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no order is said: rows are taken in the order of the key, id
-- note: no Purge here deletes rows that are done: the queue clean over the same table may have them as ready. Delete rows where the last queue is done with them (done=delete there, or its Purge)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* compactq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, started, cleaned, ended
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'i'
    ORDER  BY id
)
UPDATE picked
SET    state = 'w',
       started = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.started, 126),
       CONVERT(varchar(27), inserted.cleaned, 126),
       CONVERT(varchar(27), inserted.ended, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Started
UPDATE /* compactq.Complete */ compactions
SET    state = 'r'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           started_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  started = CONVERT(datetime2, started_held, 126)
AND    state = 'w';

-- sql/fail.sql
-- fail: running to failed
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Started
UPDATE /* compactq.Fail */ compactions
SET    state = 'f'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           started_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  started = CONVERT(datetime2, started_held, 126)
AND    state = 'w';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Started
UPDATE /* compactq.Requeue */ compactions
SET    state = 'i',
       started = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           started_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  started = CONVERT(datetime2, started_held, 126)
AND    state = 'w';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Started
UPDATE /* compactq.Extend */ compactions
SET    started = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.started, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           started_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN compactions WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  started = CONVERT(datetime2, started_held, 126)
AND    state = 'w';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* compactq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, started
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'w'
    AND    started <= DATEADD(hour, -24, SYSUTCDATETIME())
)
UPDATE picked
SET    state = 'i',
       started = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* compactq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, started
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'f'
)
UPDATE picked
SET    state = 'i',
       started = NULL
OUTPUT inserted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, started) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* compactq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   compactions WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'f'
    AND    started <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Cleaned, 3: new Ended
INSERT /* compactq.Enqueue */ INTO compactions
       (id, state, cleaned, ended)
OUTPUT inserted.id
VALUES (@p1, 'i', CONVERT(datetime2, @p2, 126), CONVERT(datetime2, @p3, 126));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* compactq.Stats */
       count(CASE WHEN state = 'i' THEN 1 END) AS ready,
       count(CASE WHEN state = 'w' THEN 1 END) AS running,
       count(CASE WHEN state = 'r' THEN 1 END) AS done,
       count(CASE WHEN state = 'f' THEN 1 END) AS failed,
       count(CASE WHEN state = 'w' AND started <= DATEADD(hour, -24, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'w' THEN started END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   compactions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* compactq.Backlog */
       count(*) AS ready
FROM   compactions
WHERE  state = 'i';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* compactq.Peek */ TOP (@p1)
       id, CONVERT(varchar(27), cleaned, 126), CONVERT(varchar(27), ended, 126)
FROM   compactions WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'i'
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* compactq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2016'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2016';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* compactq.Verify */
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
SELECT /* compactq.Verify */
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
SELECT /* compactq.Verify */
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX compactions_ready ON compactions (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
