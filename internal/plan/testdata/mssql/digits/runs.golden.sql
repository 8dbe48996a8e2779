-- Package runsq uses the table runs as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
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
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     SQL Server has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: times of column "made" have 10 digits, which last until 20 November 2286
-- note: rows are taken as they came, by column "id"; order 1 at column "run_text" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, run_text)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, run_text, held_till, made, tries, body
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    run_text <= RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11)
    ORDER  BY id
)
UPDATE picked
SET    state = 'A',
       held_till = RIGHT(REPLICATE('0', 17) + CAST(CAST(DATEDIFF_BIG(microsecond, '19700101', SYSUTCDATETIME()) + CAST(3600 * 1000000.0 AS bigint) AS bigint) AS varchar(20)), 17)
OUTPUT inserted.id, inserted.run_text, inserted.held_till, inserted.made, inserted.tries,
       inserted.body;

-- sql/complete.sql
-- complete: running to done
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Complete */ runs
SET    state = 'D',
       held_till = NULL,
       ended = RIGHT(REPLICATE('0', 14) + CAST(CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 14)
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = CONVERT(varchar(8000), held_till_held)
AND    state = 'A';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'N',
       run_text = RIGHT(REPLICATE('0', 11) + CAST(CASE WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR((60 * (tries + 1))) < 0 THEN 0 WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR((60 * (tries + 1))) > 99999999999 THEN 99999999999 ELSE CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR((60 * (tries + 1))) AS bigint) END AS varchar(20)), 11),
       held_till = NULL,
       tries = tries + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = CONVERT(varchar(8000), held_till_held)
AND    state = 'A';

-- sql/fail.sql
-- fail: running to failed
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'F',
       held_till = NULL,
       tries = tries + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = CONVERT(varchar(8000), held_till_held)
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID HeldTill
UPDATE /* runsq.Requeue */ runs
SET    state = 'N',
       run_text = CASE WHEN @p1 > 0.0 THEN RIGHT(REPLICATE('0', 11) + CAST(CASE WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1) < 0 THEN 0 WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1) > 99999999999 THEN 99999999999 ELSE CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1) AS bigint) END AS varchar(20)), 11) ELSE run_text END,
       held_till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = CONVERT(varchar(8000), held_till_held)
AND    state = 'A';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Extend */ runs
SET    held_till = RIGHT(REPLICATE('0', 17) + CAST(CAST(DATEDIFF_BIG(microsecond, '19700101', SYSUTCDATETIME()) + CAST(3600 * 1000000.0 AS bigint) AS bigint) AS varchar(20)), 17)
OUTPUT inserted.id, inserted.held_till
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           held_till_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN runs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  held_till = CONVERT(varchar(8000), held_till_held)
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_text), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, held_till, tries
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries < 2
    AND    held_till <= RIGHT(REPLICATE('0', 17) + CAST(CAST(DATEDIFF_BIG(microsecond, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 17)
)
UPDATE picked
SET    state = 'N',
       held_till = NULL,
       tries = tries + 1
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_text), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, held_till, tries
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'A'
    AND    tries >= 2
    AND    held_till <= RIGHT(REPLICATE('0', 17) + CAST(CAST(DATEDIFF_BIG(microsecond, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 17)
)
UPDATE picked
SET    state = 'F',
       held_till = NULL,
       tries = tries + 1
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_text)
-- isolation: read committed
-- arguments: 1: limit
WITH /* runsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, held_till, tries
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
)
UPDATE picked
SET    state = 'N',
       held_till = NULL,
       tries = 0
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_text); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
    AND    ended <= RIGHT(REPLICATE('0', 14) + CAST(CASE WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000.0 AS bigint) < 0 THEN 0 WHEN DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000.0 AS bigint) > 99999999999999 THEN 99999999999999 ELSE CAST(DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) - CAST(@p2 * 1000.0 AS bigint) AS bigint) END AS varchar(20)), 14)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_text); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* runsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   runs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'F'
    AND    made <= RIGHT(REPLICATE('0', 10) + CAST(CASE WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(@p2) < 0 THEN 0 WHEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(@p2) > 9999999999 THEN 9999999999 ELSE CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(@p2) AS bigint) END AS varchar(20)), 10)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunText, 2: new Body
INSERT /* runsq.Enqueue */ INTO runs
       (run_text, made, body)
OUTPUT inserted.id
VALUES (coalesce(CONVERT(varchar(8000), @p1), RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11)),
        RIGHT(REPLICATE('0', 10) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 10),
        CONVERT(varchar(8000), @p2));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all RunText Body
SET /* runsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO runs
       (run_text, made, body)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(CONVERT(varchar(8000), run_text_new), RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11)),
       RIGHT(REPLICATE('0', 10) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 10),
       CONVERT(varchar(8000), body_new)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           run_text_new nvarchar(4000) '$[0]',
           body_new nvarchar(4000) '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(CASE WHEN state = 'N' AND run_text <= RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'F' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND run_text > RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11) THEN 1 END) AS delayed,
       count(CASE WHEN state = 'A' AND held_till <= RIGHT(REPLICATE('0', 17) + CAST(CAST(DATEDIFF_BIG(microsecond, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 17) THEN 1 END) AS expired,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - CAST(min(CASE WHEN state = 'N' AND run_text <= RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11) THEN made END) AS bigint)) * 1.0 AS oldest_ready
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id, run_text)
SELECT /* runsq.Backlog */
       count(CASE WHEN run_text <= RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11) THEN 1 END) AS ready,
       count(CASE WHEN run_text > RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11) THEN 1 END) AS delayed,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - CAST(min(CASE WHEN run_text <= RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11) THEN made END) AS bigint)) * 1.0 AS oldest_ready
FROM   runs
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, run_text)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */ TOP (@p1)
       id, run_text, made, tries, body
FROM   runs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    run_text <= RIGHT(REPLICATE('0', 11) + CAST(CAST(DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AS bigint) AS varchar(20)), 11)
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
                  ('state', 'char'),
                  ('run_text', 'varchar'),
                  ('held_till', 'varchar'),
                  ('made', 'char'),
                  ('ended', 'varchar'),
                  ('tries', 'int'),
                  ('body', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'runs'
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX runs_ready ON runs (state, id, run_text);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
