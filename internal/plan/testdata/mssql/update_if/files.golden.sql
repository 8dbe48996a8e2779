-- Package filesq uses the table files as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates files_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, file_id, data_type
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in file_id, data_type (primary key), where (is_deleted = 0), and leaves it alone where that does not hold: bucket = {bucket}, pending = 'yes'
-- note: warning: enqueue=update takes a job that runs from its worker, since qgen:on update writes column pending: it may be claimed again while the first still has it, who then gets ErrLost

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (pending, is_deleted, file_id, data_type)
-- isolation: read committed
-- arguments: 1: limit
WITH /* filesq.Claim */ picked AS (
    SELECT TOP (@p1)
           file_id, data_type, bucket, synced, pending
    FROM   files WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  pending = 'yes'
    AND    (is_deleted = 0)
    ORDER  BY file_id, data_type
)
UPDATE picked
SET    synced = SYSUTCDATETIME(),
       pending = 'busy'
OUTPUT inserted.file_id, inserted.data_type, inserted.bucket,
       CONVERT(varchar(27), inserted.synced, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Complete */ files
SET    pending = 'no'
OUTPUT inserted.file_id, inserted.data_type
FROM   OPENJSON(@p1) WITH (
           file_id_held bigint '$[0]',
           data_type_held nvarchar(4000) '$[1]',
           synced_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  file_id = file_id_held
       AND data_type = CONVERT(varchar(8000), data_type_held)
WHERE  synced = CONVERT(datetime2, synced_held, 126)
AND    pending = 'busy';

-- sql/retry.sql
-- retry: running to ready
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Fail */ files
SET    synced = NULL,
       pending = 'yes'
OUTPUT inserted.file_id, inserted.data_type
FROM   OPENJSON(@p1) WITH (
           file_id_held bigint '$[0]',
           data_type_held nvarchar(4000) '$[1]',
           synced_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  file_id = file_id_held
       AND data_type = CONVERT(varchar(8000), data_type_held)
WHERE  synced = CONVERT(datetime2, synced_held, 126)
AND    pending = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Requeue */ files
SET    synced = NULL,
       pending = 'yes'
OUTPUT inserted.file_id, inserted.data_type
FROM   OPENJSON(@p1) WITH (
           file_id_held bigint '$[0]',
           data_type_held nvarchar(4000) '$[1]',
           synced_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  file_id = file_id_held
       AND data_type = CONVERT(varchar(8000), data_type_held)
WHERE  synced = CONVERT(datetime2, synced_held, 126)
AND    pending = 'busy';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Extend */ files
SET    synced = SYSUTCDATETIME()
OUTPUT inserted.file_id, inserted.data_type, CONVERT(varchar(27), inserted.synced, 126)
FROM   OPENJSON(@p1) WITH (
           file_id_held bigint '$[0]',
           data_type_held nvarchar(4000) '$[1]',
           synced_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  file_id = file_id_held
       AND data_type = CONVERT(varchar(8000), data_type_held)
WHERE  synced = CONVERT(datetime2, synced_held, 126)
AND    pending = 'busy';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (pending, is_deleted, file_id, data_type), which finds the rows that somebody has by pending
-- isolation: read committed
-- arguments: 1: limit
WITH /* filesq.Recover */ picked AS (
    SELECT TOP (@p1)
           file_id, data_type, synced, pending
    FROM   files WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  pending = 'busy'
    AND    (is_deleted = 0)
    AND    synced <= DATEADD(minute, -10, SYSUTCDATETIME())
)
UPDATE picked
SET    synced = NULL,
       pending = 'yes'
OUTPUT inserted.file_id, inserted.data_type;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (pending, is_deleted, file_id, data_type); it reads those that are not old enough as well
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* filesq.Purge */ picked AS (
    SELECT TOP (@p1)
           file_id, data_type
    FROM   files WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  pending = 'no'
    AND    (is_deleted = 0)
    AND    synced <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.file_id, deleted.data_type;

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in file_id, data_type (primary key)
-- locks: the row, until commit; waits for who has it locked
-- index: file_id, data_type
-- isolation: read committed
-- arguments: 1: new FileID, 2: new DataType
SELECT /* filesq.Enqueue */
       file_id, data_type
FROM   files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
WHERE  file_id = @p1
AND    data_type = CONVERT(varchar(8000), @p2);

-- sql/enqueue_check.sql
-- enqueue: returns the row that enqueue_lock.sql found, if update_if holds for it: else it is left alone
-- locks: nothing more
-- index: file_id, data_type
-- isolation: read committed
-- arguments: 1: new FileID, 2: new DataType
SELECT /* filesq.Enqueue */
       file_id, data_type
FROM   files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
WHERE  file_id = @p1
AND    data_type = CONVERT(varchar(8000), @p2)
AND    (is_deleted = 0);

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: file_id, data_type
-- isolation: read committed
-- arguments: 1: new Bucket, 2: new FileID, 3: new DataType
UPDATE /* filesq.Enqueue */ files
SET    bucket = CONVERT(varchar(8000), @p1),
       pending = 'yes'
WHERE  file_id = @p2
AND    data_type = CONVERT(varchar(8000), @p3);

-- sql/enqueue.sql
-- enqueue: a new ready row, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new FileID, 2: new DataType, 3: new Bucket
INSERT /* filesq.Enqueue */ INTO files
       (file_id, data_type, bucket)
OUTPUT inserted.file_id, inserted.data_type
VALUES (@p1, CONVERT(varchar(8000), @p2), CONVERT(varchar(8000), @p3));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(CASE WHEN pending = 'yes' THEN 1 END) AS ready,
       count(CASE WHEN pending = 'busy' THEN 1 END) AS running,
       count(CASE WHEN pending = 'no' THEN 1 END) AS done,
       count(CASE WHEN pending = 'busy' AND synced <= DATEADD(minute, -10, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN pending = 'busy' THEN synced END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   files
WHERE  (is_deleted = 0);

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (pending, is_deleted, file_id, data_type)
SELECT /* filesq.Backlog */
       count(*) AS ready
FROM   files
WHERE  pending = 'yes'
AND    (is_deleted = 0);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (pending, is_deleted, file_id, data_type)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */ TOP (@p1)
       file_id, data_type, bucket
FROM   files WITH (READPAST, READCOMMITTEDLOCK)
WHERE  pending = 'yes'
AND    (is_deleted = 0)
ORDER  BY file_id, data_type;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('file_id', 'bigint'),
                  ('data_type', 'varchar'),
                  ('bucket', 'varchar'),
                  ('synced', 'datetime2'),
                  ('pending', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'files'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* filesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('files')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('files')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('files_ready', 'pending, is_deleted, file_id, data_type', 'pending', '')
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
           WHERE  have.object_id = OBJECT_ID('files')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX files_ready ON files (pending, is_deleted, file_id, data_type);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
