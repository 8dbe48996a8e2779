-- Package reckonedq uses the table reckoned as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> ready, due again
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- A job never ends: Complete makes it ready again, due after a time that the database works out of the row. Who wants one to end deletes its row.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates reckoned_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  a row of the queue is written when its job ends and not before, and with cycle no job ends
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQL Server has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit, 2: held_all ID
SELECT /* reckonedq.Claim */ TOP (@p1)
       id, run_at, wait_s
FROM   reckoned WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  run_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
AND    NOT EXISTS (
           SELECT 1
           FROM   OPENJSON(@p2) WITH (id_held bigint '$[0]') AS job
           WHERE  id = id_held)
ORDER  BY run_at, id;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* reckonedq.Complete */ reckoned
SET    run_at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR((reckoned.wait_s * 2))
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN reckoned WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME());

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* reckonedq.Fail */ reckoned
SET    run_at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1)
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN reckoned WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME());

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* reckonedq.Requeue */ reckoned
SET    run_at = CASE WHEN @p1 > 0.0 THEN DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) + FLOOR(@p1) ELSE run_at END
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN reckoned WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  run_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME());

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new WaitS
INSERT /* reckonedq.Enqueue */ INTO reckoned
       (run_at, wait_s)
OUTPUT inserted.id
VALUES (coalesce(@p1, DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())),
        coalesce(@p2, 60));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all RunAt WaitS
SET /* reckonedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO reckoned
       (run_at, wait_s)
OUTPUT inserted.id
INTO   @kept
SELECT coalesce(run_at_new, DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())),
       coalesce(wait_s_new, 60)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           run_at_new bigint '$[0]',
           wait_s_new int '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* reckonedq.Stats */
       count(CASE WHEN run_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS ready,
       count(CASE WHEN run_at > DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN 1 END) AS delayed,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN run_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) THEN run_at END)) * 1.0 AS oldest_ready
FROM   reckoned;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* reckonedq.Peek */ TOP (@p1)
       id, run_at, wait_s
FROM   reckoned WITH (READPAST, READCOMMITTEDLOCK)
WHERE  run_at <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
ORDER  BY run_at, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* reckonedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* reckonedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('run_at', 'bigint'),
                  ('wait_s', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'reckoned'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* reckonedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('reckoned')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('reckoned')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* reckonedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('reckoned_ready', 'run_at, id', 'run_at', '')
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
           WHERE  have.object_id = OBJECT_ID('reckoned')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX reckoned_ready ON reckoned (run_at, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
