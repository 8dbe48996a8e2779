-- Package systasksq uses the table systasks as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates systasks_ready and systasks_like.
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
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in kind, target, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* systasksq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, kind, target, status, since
    FROM   systasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'TODO'
    ORDER  BY id
)
UPDATE picked
SET    status = 'WIP',
       since = SYSUTCDATETIME()
OUTPUT inserted.id, inserted.kind, inserted.target,
       CONVERT(varchar(27), inserted.since, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Complete */ systasks
SET    status = 'DONE'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN systasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'WIP';

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Fail */ systasks
SET    status = 'ERROR'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN systasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'WIP';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Requeue */ systasks
SET    status = 'TODO',
       since = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN systasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'WIP';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Extend */ systasks
SET    since = SYSUTCDATETIME()
OUTPUT inserted.id, CONVERT(varchar(27), inserted.since, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           since_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN systasks WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    status = 'WIP';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
WITH /* systasksq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, status, since
    FROM   systasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'WIP'
    AND    since <= DATEADD(hour, -1, SYSUTCDATETIME())
)
UPDATE picked
SET    status = 'TODO',
       since = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* systasksq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, status, since
    FROM   systasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'ERROR'
)
UPDATE picked
SET    status = 'TODO',
       since = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* systasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   systasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'DONE'
    AND    since <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* systasksq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   systasks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'ERROR'
    AND    since <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in kind, target, of those that are ready: then it adds none
-- locks: the new row, until commit; the rows that are like it, or the place where they would be
-- index: (kind, target)
-- isolation: read committed
-- arguments: 1: new Kind, 2: new Target
INSERT /* systasksq.Enqueue */ INTO systasks
       (kind, target)
OUTPUT inserted.id
SELECT CONVERT(varchar(8000), @p1), @p2
WHERE  NOT EXISTS (
           SELECT 1
           FROM   systasks WITH (UPDLOCK, HOLDLOCK)
           WHERE  kind = CONVERT(varchar(8000), @p1)
           AND    (target = @p2 OR target IS NULL AND @p2 IS NULL)
           AND    status = 'TODO');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* systasksq.Stats */
       count(CASE WHEN status = 'TODO' THEN 1 END) AS ready,
       count(CASE WHEN status = 'WIP' THEN 1 END) AS running,
       count(CASE WHEN status = 'DONE' THEN 1 END) AS done,
       count(CASE WHEN status = 'ERROR' THEN 1 END) AS failed,
       count(CASE WHEN status = 'WIP' AND since <= DATEADD(hour, -1, SYSUTCDATETIME()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 'WIP' THEN since END), SYSUTCDATETIME()) / 1000.0 AS oldest_running
FROM   systasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
SELECT /* systasksq.Backlog */
       count(*) AS ready
FROM   systasks
WHERE  status = 'TODO';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* systasksq.Peek */ TOP (@p1)
       id, kind, target
FROM   systasks WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 'TODO'
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* systasksq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* systasksq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('kind', 'varchar'),
                  ('target', 'int'),
                  ('status', 'varchar'),
                  ('since', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'systasks'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* systasksq.Verify */
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
WHERE  have.object_id = OBJECT_ID('systasks')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('systasks')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* systasksq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('systasks_ready', 'status, id', 'status', ''),
                  ('systasks_like', 'kind, target', 'kind, target', '')
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
           WHERE  have.object_id = OBJECT_ID('systasks')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX systasks_ready ON systasks (status, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Enqueue: the rows that are like a new job; systasks_kind leads to these rows among others: where those are few, decline this one (indexes: {like: false})
CREATE INDEX systasks_like ON systasks (kind, target);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
