-- Package localq uses the table calls as a queue of jobs on SQL Server 2019 and later.
--
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_utc_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: column "day" counts whole days: a job that failed is due up to one day before or after its first wait of 5s ends
-- note: rows are taken as they came, by column "id"; order 1 at column "day" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: there is no Enqueue: column "opens" is ignored, and a new row needs a value in it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, day) INCLUDE (opens, closes, called, made)
-- isolation: read committed
-- arguments: 1: limit, 2: param since time.Time, 3: param from *time.Time
WITH /* localq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, number, state, day, heard, made
    FROM   calls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    day <= CAST(SYSDATETIME() AS date)
    AND    (opens <= CAST(SYSDATETIME() AS time) AND CAST(SYSDATETIME() AS time) < closes AND day = CAST(SYSDATETIME() AS date) AND (called < SYSDATETIME() OR called IS NULL) AND made < DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 60)
    AND    ((called > CONVERT(datetime2, @p2, 126) OR made > @p3 - 60))
    ORDER  BY id
)
UPDATE picked
SET    state = 'R'
OUTPUT inserted.id, inserted.number, CONVERT(varchar(10), inserted.day, 23),
       CONVERT(varchar(27), inserted.heard, 126), inserted.made;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* localq.Complete */ calls
SET    state = 'D'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN calls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'R';

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* localq.Fail */ calls
SET    state = 'N',
       day = CAST(DATEADD(second, FLOOR(@p1), SYSDATETIME()) AS date)
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN calls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'R';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* localq.Requeue */ calls
SET    state = 'N',
       day = CASE WHEN @p1 > 0.0 THEN CAST(DATEADD(second, FLOOR(@p1), SYSDATETIME()) AS date) ELSE day END
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN calls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'R';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, day) INCLUDE (opens, closes, called, made); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* localq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   calls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'D'
    AND    made <= DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - FLOOR(@p2)
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* localq.Stats */
       count(CASE WHEN state = 'N' AND day <= CAST(SYSDATETIME() AS date) AND (opens <= CAST(SYSDATETIME() AS time) AND CAST(SYSDATETIME() AS time) < closes AND day = CAST(SYSDATETIME() AS date) AND (called < SYSDATETIME() OR called IS NULL) AND made < DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 60) THEN 1 END) AS ready,
       count(CASE WHEN state = 'R' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'N' AND day > CAST(SYSDATETIME() AS date) THEN 1 END) AS delayed,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN state = 'N' AND day <= CAST(SYSDATETIME() AS date) AND (opens <= CAST(SYSDATETIME() AS time) AND CAST(SYSDATETIME() AS time) < closes AND day = CAST(SYSDATETIME() AS date) AND (called < SYSDATETIME() OR called IS NULL) AND made < DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 60) THEN made END)) * 1.0 AS oldest_ready
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id, day) INCLUDE (opens, closes, called, made)
SELECT /* localq.Backlog */
       count(CASE WHEN day <= CAST(SYSDATETIME() AS date) AND (opens <= CAST(SYSDATETIME() AS time) AND CAST(SYSDATETIME() AS time) < closes AND day = CAST(SYSDATETIME() AS date) AND (called < SYSDATETIME() OR called IS NULL) AND made < DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 60) THEN 1 END) AS ready,
       count(CASE WHEN day > CAST(SYSDATETIME() AS date) THEN 1 END) AS delayed,
       (DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - min(CASE WHEN day <= CAST(SYSDATETIME() AS date) AND (opens <= CAST(SYSDATETIME() AS time) AND CAST(SYSDATETIME() AS time) < closes AND day = CAST(SYSDATETIME() AS date) AND (called < SYSDATETIME() OR called IS NULL) AND made < DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 60) THEN made END)) * 1.0 AS oldest_ready
FROM   calls
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, day) INCLUDE (opens, closes, called, made)
-- isolation: read committed
-- arguments: 1: limit, 2: param since time.Time, 3: param from *time.Time
SELECT /* localq.Peek */ TOP (@p1)
       id, number, CONVERT(varchar(10), day, 23), CONVERT(varchar(27), heard, 126), made
FROM   calls WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    day <= CAST(SYSDATETIME() AS date)
AND    (opens <= CAST(SYSDATETIME() AS time) AND CAST(SYSDATETIME() AS time) < closes AND day = CAST(SYSDATETIME() AS date) AND (called < SYSDATETIME() OR called IS NULL) AND made < DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()) - 60)
AND    ((called > CONVERT(datetime2, @p2, 126) OR made > @p3 - 60))
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* localq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* localq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('number', 'varchar'),
                  ('state', 'char'),
                  ('day', 'date'),
                  ('heard', 'datetime2'),
                  ('made', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'calls'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* localq.Verify */
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
WHERE  have.object_id = OBJECT_ID('calls')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('calls')
AND    have.is_disabled = 0;

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock Heard
SELECT /* localq.Verify */
       'the clock of the database reads ' + CONVERT(varchar(27), SYSDATETIME(), 126) + ', and that of the program does not'
WHERE  DATEDIFF_BIG(millisecond, CONVERT(datetime2, @p1, 126), SYSDATETIME()) / 1000.0 NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* localq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('calls_utc_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('calls')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are passed over in it; rows that wait for their time are passed over in it
-- utcq advises the same
CREATE INDEX calls_utc_ready ON calls (state, id, day) INCLUDE (opens, closes, called, made);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
