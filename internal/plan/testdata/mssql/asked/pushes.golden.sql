-- Package pushesq uses the table pushes as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pushes_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, name; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=update changes the row that is like a new job in name (primary key): run_at = ({new}.run_at), pause = ({new}.pause), last = ({new}.last)
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, name, run_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* pushesq.Claim */ picked AS (
    SELECT TOP (@p1)
           name, state, run_at, pause
    FROM   pushes WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 0
    AND    (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL)
    ORDER  BY name
)
UPDATE picked
SET    state = 1
OUTPUT inserted.name, CONVERT(varchar(33), inserted.run_at, 126), inserted.pause;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Name
DELETE /* pushesq.Complete */ pushes
OUTPUT deleted.name
FROM   OPENJSON(@p1) WITH (
           name_held nvarchar(4000) '$[0]'
       ) AS job
       INNER LOOP JOIN pushes WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  name = name_held
WHERE  state = 1;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all Name
UPDATE /* pushesq.Fail */ pushes
SET    state = 0,
       run_at = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET()))
OUTPUT inserted.name
FROM   OPENJSON(@p2) WITH (
           name_held nvarchar(4000) '$[0]'
       ) AS job
       INNER LOOP JOIN pushes WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  name = name_held
WHERE  state = 1;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all Name
UPDATE /* pushesq.Requeue */ pushes
SET    state = 0,
       run_at = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())) ELSE run_at END
OUTPUT inserted.name
FROM   OPENJSON(@p2) WITH (
           name_held nvarchar(4000) '$[0]'
       ) AS job
       INNER LOOP JOIN pushes WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  name = name_held
WHERE  state = 1;

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in name (primary key)
-- locks: the row, until commit; waits for who has it locked
-- index: name
-- isolation: read committed
-- arguments: 1: new Name
SELECT /* pushesq.Enqueue */
       name
FROM   pushes WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
WHERE  name = @p1;

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: name
-- isolation: read committed
-- arguments: 1: new Pause, 2: new Delay, 3: new Name
UPDATE /* pushesq.Enqueue */ pushes
SET    run_at = ((DATEADD(second, @p1, SYSDATETIMEOFFSET()))),
       pause = (@p1),
       last = (DATEADD(millisecond, (@p2 - FLOOR(@p2)) * 1000, DATEADD(second, FLOOR(@p2), SYSDATETIMEOFFSET())))
WHERE  name = @p3;

-- sql/enqueue.sql
-- enqueue: a new ready row, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new Name, 2: new Pause, 3: new Delay
INSERT /* pushesq.Enqueue */ INTO pushes
       (name, run_at, pause, last)
OUTPUT inserted.name
VALUES (@p1, (DATEADD(second, @p2, SYSDATETIMEOFFSET())), @p2,
        DATEADD(millisecond, (@p3 - FLOOR(@p3)) * 1000, DATEADD(second, FLOOR(@p3), SYSDATETIMEOFFSET())));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pushesq.Stats */
       count(CASE WHEN state = 0 AND (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 0 AND run_at > SYSDATETIMEOFFSET() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 0 AND (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL) THEN run_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   pushes;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, name, run_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pushesq.Peek */ TOP (@p1)
       name, CONVERT(varchar(33), run_at, 126), pause
FROM   pushes WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 0
AND    (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL)
ORDER  BY name;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pushesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pushesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('name', 'nvarchar'),
                  ('state', 'int'),
                  ('run_at', 'datetimeoffset'),
                  ('pause', 'int'),
                  ('last', 'datetimeoffset')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'pushes'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* pushesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('pushes')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('pushes')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pushesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('pushes_ready', 'state, name', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('pushes')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX pushes_ready ON pushes (state, name, run_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
