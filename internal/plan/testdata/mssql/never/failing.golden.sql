-- Package failingq uses the table failing as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Bury------------> failed
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates failing_ready.
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
-- note: column "at" is due and lease, so a claim hides the row by moving its due time
-- note: a row that waits for its time looks like one that runs: both are hidden by column "at"
-- note: a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)
-- note: the fence compares column "at", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (at, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* failingq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, at, tries
    FROM   failing WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
    AND    at <> 2147483647
    AND    tries < 5
    ORDER  BY at, id
)
UPDATE picked
SET    at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + 1000
OUTPUT inserted.id, inserted.at, inserted.tries;

-- sql/complete.sql
-- complete: running to done
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID At
DELETE /* failingq.Complete */ failing
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           at_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN failing WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  at = at_held;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID At
UPDATE /* failingq.Fail */ failing
SET    at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1),
       tries = tries + 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           at_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN failing WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  at = at_held;

-- sql/fail.sql
-- fail: running to failed
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID At
UPDATE /* failingq.Fail */ failing
SET    at = 2147483647,
       tries = tries + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           at_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN failing WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  at = at_held;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID At
UPDATE /* failingq.Requeue */ failing
SET    at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1)
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           at_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN failing WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  at = at_held;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID At
UPDATE /* failingq.Extend */ failing
SET    at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + 1000
OUTPUT inserted.id, inserted.at
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           at_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN failing WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  at = at_held;

-- sql/outcome_bury.sql
-- outcome_bury: running to failed
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID At
UPDATE /* failingq.Bury */ failing
SET    at = 2147483647,
       tries = tries + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           at_held bigint '$[1]'
       ) AS job
       INNER LOOP JOIN failing WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  at = at_held;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (at, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* failingq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, at, tries
    FROM   failing WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  at = 2147483647
)
UPDATE picked
SET    at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()),
       tries = 0
OUTPUT inserted.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At
INSERT /* failingq.Enqueue */ INTO failing
       (at)
OUTPUT inserted.id
VALUES (coalesce(@p1, DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all At
SET /* failingq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO failing
       (at)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(at_new, DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()))
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           at_new bigint '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* failingq.Stats */
       count(CASE WHEN at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AND at <> 2147483647 AND tries < 5 THEN 1 END) AS ready,
       count(CASE WHEN at > DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AND at <> 2147483647 THEN 1 END) AS running,
       count(CASE WHEN at = 2147483647 THEN 1 END) AS failed,
       count(CASE WHEN at <> 2147483647 AND tries < 5 AND at > DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS delayed,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) AND at <> 2147483647 AND tries < 5 THEN at END)) * 1.0 AS oldest_ready
FROM   failing;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* failingq.Backlog */
       count(CASE WHEN at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS ready,
       count(CASE WHEN at > DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS delayed,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN at END)) * 1.0 AS oldest_ready
FROM   failing
WHERE  at <> 2147483647
AND    tries < 5;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* failingq.Peek */ TOP (@p1)
       id, at, tries
FROM   failing WITH (READPAST, READCOMMITTEDLOCK)
WHERE  at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
AND    at <> 2147483647
AND    tries < 5
ORDER  BY at, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* failingq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* failingq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('at', 'bigint'),
                  ('tries', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'failing'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* failingq.Verify */
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
WHERE  have.object_id = OBJECT_ID('failing')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('failing')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* failingq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('failing_ready', 'at, id', 'at', '')
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
           WHERE  have.object_id = OBJECT_ID('failing')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
CREATE INDEX failing_ready ON failing (at, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
