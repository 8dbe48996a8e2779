-- Package filesq uses the tables files and files_acquired as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (files_failed)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (files_failed), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes files_failed (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates files_ready and files_acquired_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: tries are counted in column "tries" when they begin (on=claim)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then adds to files_acquired
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (added_at, id, not_before)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Claim */ TOP (@p1)
       LOWER(CONVERT(char(36), id))
FROM   files WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  (not_before <= SYSUTCDATETIME() OR not_before IS NULL)
ORDER  BY added_at, id;

-- sql/claim.sql
-- claim: ready to running, a row of files_acquired for each of the rows that claim_lock.sql locked
-- locks: the rows it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker AcquiredBy, 2: token Mark, 3: batch_all ID
INSERT /* filesq.Claim */ INTO files_acquired
       (id, path, size, tries, added_at, problem, acquired_by, acquired_at, lease_till,
        mark)
SELECT held.id, held.path, held.size, held.tries + 1, held.added_at, held.problem, @p1,
       SYSUTCDATETIME(), DATEADD(minute, 5, SYSUTCDATETIME()), @p2
FROM   OPENJSON(@p3) WITH (
           id_picked nvarchar(36) '$[0]'
       ) AS job
       INNER LOOP JOIN files AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = CONVERT(uniqueidentifier, id_picked);

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* filesq.Claim */
       LOWER(CONVERT(char(36), id)), path, size, tries,
       CONVERT(varchar(27), added_at, 126), problem,
       CONVERT(varchar(27), acquired_at, 126), CONVERT(varchar(27), lease_till, 126),
       LOWER(CONVERT(char(36), mark))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held);

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to files_acquired
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* filesq.Claim */ files
FROM   OPENJSON(@p1) WITH (
           id_picked nvarchar(36) '$[0]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_picked);

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
DELETE /* filesq.Complete */ files_acquired
OUTPUT LOWER(CONVERT(char(36), deleted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
SELECT /* filesq.Fail */
       LOWER(CONVERT(char(36), id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to files before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch_all ID Mark
INSERT /* filesq.Fail */ INTO files
       (id, path, size, tries, added_at, not_before, problem)
SELECT held.id, held.path, held.size, held.tries, held.added_at,
       DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       @p2
FROM   OPENJSON(@p3) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = CONVERT(uniqueidentifier, id_held)
WHERE  held.mark = CONVERT(uniqueidentifier, mark_held);

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
DELETE /* filesq.Fail */ files_acquired
OUTPUT LOWER(CONVERT(char(36), deleted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
SELECT /* filesq.Fail */
       LOWER(CONVERT(char(36), id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to files_failed before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID Mark
INSERT /* filesq.Fail */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, @p1
FROM   OPENJSON(@p2) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = CONVERT(uniqueidentifier, id_held)
WHERE  held.mark = CONVERT(uniqueidentifier, mark_held);

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
DELETE /* filesq.Fail */ files_acquired
OUTPUT LOWER(CONVERT(char(36), deleted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
SELECT /* filesq.Requeue */
       LOWER(CONVERT(char(36), id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to files before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Mark
INSERT /* filesq.Requeue */ INTO files
       (id, path, size, tries, added_at, not_before, problem)
SELECT held.id, held.path, held.size, held.tries - 1, held.added_at,
       CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())) ELSE SYSUTCDATETIME() END,
       held.problem
FROM   OPENJSON(@p2) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = CONVERT(uniqueidentifier, id_held)
WHERE  held.mark = CONVERT(uniqueidentifier, mark_held);

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
DELETE /* filesq.Requeue */ files_acquired
OUTPUT LOWER(CONVERT(char(36), deleted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Mark
UPDATE /* filesq.Extend */ files_acquired
SET    lease_till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT LOWER(CONVERT(char(36), inserted.id)),
       CONVERT(varchar(27), inserted.lease_till, 126)
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           mark_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  mark = CONVERT(uniqueidentifier, mark_held);

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (lease_till)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Recover */ TOP (@p1)
       LOWER(CONVERT(char(36), id))
FROM   files_acquired WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  tries < 5
AND    lease_till <= SYSUTCDATETIME();

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to files before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* filesq.Recover */ INTO files
       (id, path, size, tries, added_at, problem)
SELECT held.id, held.path, held.size, held.tries, held.added_at, held.problem
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]'
       ) AS job
       INNER LOOP JOIN files_acquired AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = CONVERT(uniqueidentifier, id_held);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* filesq.Recover */ files_acquired
OUTPUT LOWER(CONVERT(char(36), deleted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  tries < 5;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (lease_till)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Recover */ TOP (@p1)
       LOWER(CONVERT(char(36), id))
FROM   files_acquired WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  tries >= 5
AND    lease_till <= SYSUTCDATETIME();

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to files_failed before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* filesq.Recover */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, 'the claim ran out'
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]'
       ) AS job
       INNER LOOP JOIN files_acquired AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = CONVERT(uniqueidentifier, id_held);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* filesq.Recover */ files_acquired
OUTPUT LOWER(CONVERT(char(36), deleted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]'
       ) AS job
       INNER LOOP JOIN files_acquired WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  tries >= 5;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Path, 3: new Size, 4: new NotBefore
INSERT /* filesq.Enqueue */ INTO files
       (id, path, size, added_at, not_before)
OUTPUT LOWER(CONVERT(char(36), inserted.id))
VALUES (coalesce(CONVERT(uniqueidentifier, @p1), NEWID()), @p2, coalesce(@p3, 0),
        SYSUTCDATETIME(), CONVERT(datetime2, @p4, 126));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       ready,
       delayed,
       oldest_ready,
       running,
       expired,
       oldest_running
FROM   (
           SELECT count(CASE WHEN (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN 1 END) AS ready,
                  count(CASE WHEN not_before > SYSUTCDATETIME() THEN 1 END) AS delayed,
                  DATEDIFF_BIG(millisecond, min(CASE WHEN (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN added_at END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(CASE WHEN lease_till <= SYSUTCDATETIME() THEN 1 END) AS expired,
                  DATEDIFF_BIG(millisecond, min(acquired_at), SYSUTCDATETIME()) / 1000.0 AS oldest_running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (added_at, id, not_before)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */ TOP (@p1)
       LOWER(CONVERT(char(36), id)), path, size, tries,
       CONVERT(varchar(27), added_at, 126), problem
FROM   files WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (not_before <= SYSUTCDATETIME() OR not_before IS NULL)
ORDER  BY added_at, id;

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
           VALUES ('id', 'uniqueidentifier'),
                  ('path', 'nvarchar'),
                  ('size', 'bigint'),
                  ('tries', 'int'),
                  ('added_at', 'datetime2'),
                  ('problem', 'nvarchar'),
                  ('acquired_by', 'nvarchar'),
                  ('acquired_at', 'datetime2'),
                  ('lease_till', 'datetime2'),
                  ('mark', 'uniqueidentifier')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'files_acquired'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of files_failed
-- locks: none
SELECT /* filesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'uniqueidentifier'),
                  ('path', 'nvarchar'),
                  ('tries', 'int'),
                  ('problem', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'files_failed'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_ready.sql
-- verify: columns of files
-- locks: none
SELECT /* filesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'uniqueidentifier'),
                  ('path', 'nvarchar'),
                  ('size', 'bigint'),
                  ('tries', 'int'),
                  ('added_at', 'datetime2'),
                  ('not_before', 'datetime2'),
                  ('problem', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'files'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_kind_ready.sql
-- verify: kind of files
-- locks: none
SELECT /* filesq.Verify */
       'the table has a clustered columnstore index, which has no row locks'
FROM   sys.indexes AS have
WHERE  have.object_id = OBJECT_ID('files')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('files')
AND    have.is_disabled = 0;

-- sql/verify_index_ready.sql
-- verify: index of files
-- locks: none
SELECT /* filesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('files_ready', 'added_at, id', 'added_at', '')
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
WHERE  have.object_id = OBJECT_ID('files_acquired')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('files_acquired')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('files_acquired_expired', 'lease_till', 'lease_till', '')
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
           WHERE  have.object_id = OBJECT_ID('files_acquired')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX files_ready ON files (added_at, id, not_before);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Recover: claims that ran out
CREATE INDEX files_acquired_expired ON files_acquired (lease_till);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
