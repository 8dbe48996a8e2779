-- Package runsq uses the table runs as a queue of jobs on SQL Server 2019 and later.
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
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes starts (Start), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: warning: a running row whose beat is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token
WITH /* runsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, token, beat
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY id
)
UPDATE picked
SET    state = 'assigned',
       token = @p2,
       beat = SYSUTCDATETIME()
OUTPUT inserted.id, LOWER(CONVERT(char(36), inserted.token));

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
SELECT /* runsq.Start */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'assigned';

-- sql/start_insert_starts.sql
-- start: inserts rows into starts for the rows that start_lock.sql locked, before start.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
INSERT /* runsq.Start */ INTO starts
       (run_id, at)
SELECT held.id, SYSUTCDATETIME()
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN runs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/start.sql
-- start: claimed to running
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Start */ runs
SET    state = 'running',
       beat = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'assigned';

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Complete */ runs
SET    state = 'over'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state IN ('assigned', 'running', 'aborting');

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Fail */ runs
SET    state = 'failed'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state IN ('assigned', 'running', 'aborting');

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Requeue */ runs
SET    state = 'new',
       token = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state IN ('assigned', 'running', 'aborting');

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Extend */ runs
SET    beat = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state IN ('assigned', 'running', 'aborting');

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, token
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state IN ('assigned', 'running', 'aborting')
    AND    beat <= DATEADD(minute, -5, SYSUTCDATETIME())
)
UPDATE picked
SET    state = 'new',
       token = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, token
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
UPDATE picked
SET    state = 'new',
       token = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'over'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* runsq.Enqueue */ INTO runs
OUTPUT inserted.id
DEFAULT VALUES;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'assigned' THEN 1 END) AS claimed,
       count(CASE WHEN state IN ('running', 'aborting') THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state IN ('assigned', 'running', 'aborting') AND beat <= DATEADD(minute, -5, SYSUTCDATETIME()) THEN 1 END) AS expired
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* runsq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */ TOP (@p1)
       id
FROM   runs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'varchar'),
                  ('token', 'uniqueidentifier'),
                  ('beat', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'runs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of starts
-- locks: none
SELECT /* runsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('run_id', 'bigint'),
                  ('at', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'starts'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* runsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('runs')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('runs')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('runs_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('runs')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX runs_ready ON runs (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
