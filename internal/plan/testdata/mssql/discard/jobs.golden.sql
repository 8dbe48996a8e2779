-- Package jobsq uses the table jobs as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Discard---------> (deleted)
-- 	running  --Refused---------> failed
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
-- Besides the queue's own rows it writes parts (Complete, Discard), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
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
-- note: rows are taken as they came, by column "ref"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Claim */ picked AS (
    SELECT TOP (@p1)
           ref, status, job_data, till
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 1
    ORDER  BY ref
)
UPDATE picked
SET    status = 3,
       till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.ref, inserted.job_data, CONVERT(varchar(27), inserted.till, 126);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
SELECT /* jobsq.Complete */
       ref
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/complete_delete_parts.sql
-- complete: deletes rows from parts for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of parts one that begins with job
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
DELETE /* jobsq.Complete */ parts
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.ref = ref_held
       INNER JOIN parts
       ON  parts.[job] = held.ref
WHERE  held.till = CONVERT(datetime2, till_held, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Complete */ jobs
SET    status = 2,
       till = NULL
OUTPUT inserted.ref
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Fail */ jobs
SET    status = 5,
       till = NULL
OUTPUT inserted.ref
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Requeue */ jobs
SET    status = 1,
       till = NULL
OUTPUT inserted.ref
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
UPDATE /* jobsq.Extend */ jobs
SET    till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.ref, CONVERT(varchar(27), inserted.till, 126)
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/outcome_discard_lock.sql
-- outcome_discard: locks the rows of jobs whose claims are still theirs, which outcome_discard.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
SELECT /* jobsq.Discard */
       ref
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/outcome_discard_delete_parts.sql
-- outcome_discard: deletes rows from parts for the rows that outcome_discard_lock.sql locked, before outcome_discard.sql
-- locks: the rows it writes, until commit
-- index: the key; of parts one that begins with job
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
DELETE /* jobsq.Discard */ parts
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.ref = ref_held
       INNER JOIN parts
       ON  parts.[job] = held.ref
WHERE  held.till = CONVERT(datetime2, till_held, 126);

-- sql/outcome_discard.sql
-- outcome_discard: running to deleted
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Ref Till
DELETE /* jobsq.Discard */ jobs
OUTPUT deleted.ref
FROM   OPENJSON(@p1) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/outcome_refused.sql
-- outcome_refused: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given data string, 2: batch_all Ref Till
UPDATE /* jobsq.Refused */ jobs
SET    status = 5,
       job_data = CONVERT(varchar(8000), @p1),
       till = NULL
OUTPUT inserted.ref
FROM   OPENJSON(@p2) WITH (
           ref_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  ref = ref_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    status = 3;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Recover */ picked AS (
    SELECT TOP (@p1)
           ref, status, till
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 3
    AND    till <= SYSUTCDATETIME()
)
UPDATE picked
SET    status = 1,
       till = NULL
OUTPUT inserted.ref;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           ref, status, till
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 5
)
UPDATE picked
SET    status = 1,
       till = NULL
OUTPUT inserted.ref;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Purge */ picked AS (
    SELECT TOP (@p1)
           ref
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 2
)
DELETE FROM picked
OUTPUT deleted.ref;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Purge */ picked AS (
    SELECT TOP (@p1)
           ref
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 5
)
DELETE FROM picked
OUTPUT deleted.ref;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobData
INSERT /* jobsq.Enqueue */ INTO jobs
       (job_data)
OUTPUT inserted.ref
VALUES (CONVERT(varchar(8000), @p1));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all JobData
SET /* jobsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           ref bigint
       );
INSERT INTO jobs
       (job_data)
OUTPUT inserted.ref
INTO   @kept
SELECT CONVERT(varchar(8000), job_data_new)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           job_data_new nvarchar(4000) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT ref
FROM   @kept
ORDER  BY ref;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN status = 1 THEN 1 END) AS ready,
       count(CASE WHEN status = 3 THEN 1 END) AS running,
       count(CASE WHEN status = 2 THEN 1 END) AS done,
       count(CASE WHEN status = 5 THEN 1 END) AS failed,
       count(CASE WHEN status = 3 AND till <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, ref)
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, ref)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */ TOP (@p1)
       ref, job_data
FROM   jobs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 1
ORDER  BY ref;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('ref', 'bigint'),
                  ('status', 'int'),
                  ('job_data', 'varchar'),
                  ('till', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'jobs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of parts
-- locks: none
SELECT /* jobsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('job', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'parts'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* jobsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('jobs')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('jobs')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('jobs_ready', 'status, ref', 'status', '')
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
           WHERE  have.object_id = OBJECT_ID('jobs')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX jobs_ready ON jobs (status, ref);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
