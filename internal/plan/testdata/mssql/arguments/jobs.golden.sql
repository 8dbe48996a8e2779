-- Package jobsq uses the table jobs as a queue of jobs on SQL Server 2019 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes runs (Claim, Complete, Fail, Redrive); answers (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
-- note: column "code" stays as it is when a job fails because its claim ran out (giveup)
-- note: column "why" of runs is left out when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, lease_till, tries, body
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 0
    ORDER  BY id
)
UPDATE picked
SET    state = 1,
       lease_till = DATEADD(minute, 5, SYSDATETIMEOFFSET()),
       tries = tries + 1
OUTPUT inserted.id, CONVERT(varchar(33), inserted.lease_till, 126), inserted.tries,
       inserted.body;

-- sql/claim_insert_runs.sql
-- claim: inserts rows into runs for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Host, 2: given node *string, 3: batch_all ID
INSERT /* jobsq.Claim */ INTO runs
       (job_id, host, node)
SELECT held.id, @p1, CONVERT(varchar(8000), @p2)
FROM   OPENJSON(@p3) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
SELECT /* jobsq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    state = 1;

-- sql/complete_insert_answers.sql
-- complete: inserts rows into answers for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Answer BodyValue Weight At
INSERT /* jobsq.Complete */ INTO answers
       (id, code, body, weight, answered_at)
SELECT held.id, CONVERT(varchar(8000), code_held), CONVERT(varbinary(max), body_held, 2),
       weight_held, CONVERT(datetimeoffset, answered_at_held, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           code_held nvarchar(4000) '$[2]',
           body_held varchar(max) '$[3]',
           weight_held nvarchar(40) '$[4]',
           answered_at_held varchar(33) '$[5]'
       ) AS job
       INNER LOOP JOIN jobs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.tries = tries_held;

-- sql/complete_delete_runs.sql
-- complete: deletes rows from runs for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of runs one that begins with job_id
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
DELETE /* jobsq.Complete */ runs
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN runs
       ON  runs.job_id = held.id
WHERE  held.tries = tries_held;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Code
UPDATE /* jobsq.Complete */ jobs
SET    state = 2,
       lease_till = NULL,
       code = code_held
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           code_held int '$[2]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    state = 1;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Fail */ jobs
SET    state = 0,
       lease_till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    state = 1;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
SELECT /* jobsq.Fail */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    state = 1;

-- sql/fail_update_runs.sql
-- fail: updates rows of runs for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of runs one that begins with job_id, host
-- isolation: read committed
-- arguments: 1: given why *string, 2: batch_all ID Tries, 3: worker Host
UPDATE /* jobsq.Fail */ runs
SET    why = CONVERT(varchar(8000), @p1)
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN runs
       ON  runs.job_id = held.id
       AND runs.host = @p3
WHERE  held.tries = tries_held;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given code *int32, 2: batch_all ID Tries
UPDATE /* jobsq.Fail */ jobs
SET    state = 3,
       lease_till = NULL,
       code = @p1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    state = 1;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Requeue */ jobs
SET    state = 0,
       lease_till = NULL,
       tries = tries - 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    state = 1;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Extend */ jobs
SET    lease_till = DATEADD(minute, 5, SYSDATETIMEOFFSET())
OUTPUT inserted.id, CONVERT(varchar(33), inserted.lease_till, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    state = 1;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, lease_till
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 1
    AND    tries < 3
    AND    lease_till <= SYSDATETIMEOFFSET()
)
UPDATE picked
SET    state = 0,
       lease_till = NULL
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, lease_till
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 1
    AND    tries >= 3
    AND    lease_till <= SYSDATETIMEOFFSET()
)
UPDATE picked
SET    state = 3,
       lease_till = NULL
OUTPUT inserted.id;

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Redrive */ TOP (@p1)
       id
FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 3;

-- sql/redrive_update_runs.sql
-- redrive: updates rows of runs for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the rows it writes, until commit
-- index: the key; of runs one that begins with job_id
-- isolation: read committed
-- arguments: 1: given why *string, 2: batch_all ID
UPDATE /* jobsq.Redrive */ runs
SET    why = CONVERT(varchar(8000), @p1)
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN runs
       ON  runs.job_id = held.id;

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* jobsq.Redrive */ jobs
SET    state = 0,
       lease_till = NULL,
       tries = 0
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN jobs WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 3;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 2
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* jobsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   jobs WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 3
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* jobsq.Enqueue */ INTO jobs
       (body)
OUTPUT inserted.id
VALUES (@p1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Body
SET /* jobsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO jobs
       (body)
OUTPUT inserted.id
INTO   @kept
SELECT body_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           body_new nvarchar(max) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN state = 0 THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = 3 THEN 1 END) AS failed,
       count(CASE WHEN state = 1 AND lease_till <= SYSDATETIMEOFFSET() THEN 1 END) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */ TOP (@p1)
       id, tries, body
FROM   jobs WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 0
ORDER  BY id;

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
           VALUES ('id', 'bigint'),
                  ('state', 'int'),
                  ('lease_till', 'datetimeoffset'),
                  ('tries', 'int'),
                  ('code', 'int'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'jobs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of runs
-- locks: none
SELECT /* jobsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('job_id', 'bigint'),
                  ('host', 'varchar'),
                  ('node', 'varchar'),
                  ('why', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'runs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of answers
-- locks: none
SELECT /* jobsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('code', 'varchar'),
                  ('body', 'varbinary'),
                  ('weight', 'decimal'),
                  ('answered_at', 'datetimeoffset')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'answers'
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
           VALUES ('jobs_ready', 'state, id', 'state', '')
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
CREATE INDEX jobs_ready ON jobs (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
