-- Package tasksq uses the table tasks as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready.
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
-- note: no column says when a claim in column "fetched" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: a row whose claim has run out is claimed again, since nothing but column "fetched" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "attempts" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (completed, id)
-- isolation: read committed
-- arguments: 1: limit, 2: timeout
WITH /* tasksq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, fetched, completed, attempts
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  completed IS NULL
    AND    (fetched <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME())) OR fetched IS NULL)
    AND    attempts < 3
    ORDER  BY id
)
UPDATE picked
SET    fetched = SYSUTCDATETIME(),
       completed = NULL,
       attempts = attempts + 1
OUTPUT inserted.id, CONVERT(varchar(27), inserted.fetched, 126), inserted.attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Attempts
UPDATE /* tasksq.Complete */ tasks
SET    completed = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           attempts_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  attempts = attempts_held
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Attempts
UPDATE /* tasksq.Fail */ tasks
SET    fetched = NULL,
       completed = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           attempts_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  attempts = attempts_held
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/fail.sql
-- fail: running to failed
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Attempts
UPDATE /* tasksq.Fail */ tasks
SET    fetched = NULL,
       completed = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           attempts_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  attempts = attempts_held
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Attempts
UPDATE /* tasksq.Requeue */ tasks
SET    fetched = NULL,
       completed = NULL,
       attempts = attempts - 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           attempts_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  attempts = attempts_held
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Attempts
UPDATE /* tasksq.Extend */ tasks
SET    fetched = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           attempts_held int '$[1]'
       ) AS job
       INNER LOOP JOIN tasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  attempts = attempts_held
AND    completed IS NULL
AND    fetched IS NOT NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (completed, id); it reads others as well
-- isolation: read committed
-- arguments: 1: limit, 2: timeout
WITH /* tasksq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, fetched, completed, attempts
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  completed IS NULL
    AND    (fetched <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME())) OR fetched IS NULL)
    AND    attempts >= 3
)
UPDATE picked
SET    fetched = NULL,
       completed = NULL,
       attempts = 0
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (completed, id)
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* tasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  completed IS NOT NULL
    AND    completed <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (completed, id); it reads others as well
-- isolation: read committed
-- arguments: 1: limit, 2: timeout, 3: older
WITH /* tasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   tasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  completed IS NULL
    AND    (fetched <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME())) OR fetched IS NULL)
    AND    attempts >= 3
    AND    fetched <= DATEADD(millisecond, -(@p3 - FLOOR(@p3)) * 1000, DATEADD(second, -FLOOR(@p3), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* tasksq.Enqueue */ INTO tasks
OUTPUT inserted.id
DEFAULT VALUES;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* tasksq.Stats */
       count(CASE WHEN completed IS NULL AND (fetched <= DATEADD(millisecond, -(@p1 - FLOOR(@p1)) * 1000, DATEADD(second, -FLOOR(@p1), SYSUTCDATETIME())) OR fetched IS NULL) AND attempts < 3 THEN 1 END) AS ready,
       count(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched > DATEADD(millisecond, -(@p1 - FLOOR(@p1)) * 1000, DATEADD(second, -FLOOR(@p1), SYSUTCDATETIME())) THEN 1 END) AS running,
       count(CASE WHEN completed IS NOT NULL THEN 1 END) AS done,
       count(CASE WHEN completed IS NULL AND (fetched <= DATEADD(millisecond, -(@p1 - FLOOR(@p1)) * 1000, DATEADD(second, -FLOOR(@p1), SYSUTCDATETIME())) OR fetched IS NULL) AND attempts >= 3 THEN 1 END) AS failed,
       count(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched <= DATEADD(millisecond, -(@p1 - FLOOR(@p1)) * 1000, DATEADD(second, -FLOOR(@p1), SYSUTCDATETIME())) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN completed IS NULL AND fetched IS NOT NULL AND fetched > DATEADD(millisecond, -(@p1 - FLOOR(@p1)) * 1000, DATEADD(second, -FLOOR(@p1), SYSUTCDATETIME())) THEN fetched END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (completed, id); it reads others as well
-- arguments: 1: timeout
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  completed IS NULL
AND    (fetched <= DATEADD(millisecond, -(@p1 - FLOOR(@p1)) * 1000, DATEADD(second, -FLOOR(@p1), SYSUTCDATETIME())) OR fetched IS NULL)
AND    attempts < 3;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (completed, id)
-- isolation: read committed
-- arguments: 1: limit, 2: timeout
SELECT /* tasksq.Peek */ TOP (@p1)
       id, attempts
FROM   tasks WITH (READPAST, READCOMMITTEDLOCK)
WHERE  completed IS NULL
AND    (fetched <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME())) OR fetched IS NULL)
AND    attempts < 3
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('fetched', 'datetime2'),
                  ('completed', 'datetime2'),
                  ('attempts', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'tasks'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* tasksq.Verify */
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
WHERE  have.object_id = OBJECT_ID('tasks')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('tasks')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('tasks_ready', 'completed, id', 'completed', '')
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
           WHERE  have.object_id = OBJECT_ID('tasks')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over
CREATE INDEX tasks_ready ON tasks (completed, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
