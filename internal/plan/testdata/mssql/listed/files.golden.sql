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
-- It sorts the ready rows of what is asked for, which locks all of them until it commits, and passes over rows that others hold: another claim of the same finds none meanwhile. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates files_expired.
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
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: all ready rows of what is asked for, which are sorted first, until commit; passes over rows that are locked
-- index: files_node (node, status); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit, 2: param node []int32
WITH /* filesq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, node, status, began
    FROM   files WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status IN (0, 3)
    AND    node IN (SELECT value FROM OPENJSON(@p2) WITH (value int '$'))
    ORDER  BY ((select p.priority from priorities p where p.id = files.id)), id
)
UPDATE picked
SET    status = 4,
       began = SYSDATETIMEOFFSET()
OUTPUT inserted.id, inserted.node, CONVERT(varchar(33), inserted.began, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Began
UPDATE /* filesq.Complete */ files
SET    status = 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           began_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  began = CONVERT(datetimeoffset, began_held, 126)
AND    status = 4;

-- sql/retry.sql
-- retry: running to ready
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Began
UPDATE /* filesq.Fail */ files
SET    status = 0,
       began = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           began_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  began = CONVERT(datetimeoffset, began_held, 126)
AND    status = 4;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Began
UPDATE /* filesq.Requeue */ files
SET    status = 0,
       began = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           began_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  began = CONVERT(datetimeoffset, began_held, 126)
AND    status = 4;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Began
UPDATE /* filesq.Extend */ files
SET    began = SYSDATETIMEOFFSET()
OUTPUT inserted.id, CONVERT(varchar(33), inserted.began, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           began_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN files WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  began = CONVERT(datetimeoffset, began_held, 126)
AND    status = 4;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (began) WHERE status = 4
-- isolation: read committed
-- arguments: 1: limit
WITH /* filesq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, status, began
    FROM   files WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 4
    AND    began <= DATEADD(hour, -1, SYSDATETIMEOFFSET())
)
UPDATE picked
SET    status = 0,
       began = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (began) WHERE status = 1 would find them
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* filesq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   files WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 1
    AND    began <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIMEOFFSET()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Node
INSERT /* filesq.Enqueue */ INTO files
       (id, node)
OUTPUT inserted.id
VALUES (@p1, @p2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(CASE WHEN status IN (0, 3) THEN 1 END) AS ready,
       count(CASE WHEN status = 4 THEN 1 END) AS running,
       count(CASE WHEN status = 1 THEN 1 END) AS done,
       count(CASE WHEN status = 4 AND began <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 4 THEN began END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_running
FROM   files;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same node is for
-- locks: none
-- index: files_node (node, status)
-- arguments: 1: param node []int32
SELECT /* filesq.StatsOf */
       count(CASE WHEN status IN (0, 3) THEN 1 END) AS ready,
       count(CASE WHEN status = 4 THEN 1 END) AS running,
       count(CASE WHEN status = 1 THEN 1 END) AS done,
       count(CASE WHEN status = 4 AND began <= DATEADD(hour, -1, SYSDATETIMEOFFSET()) THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN status = 4 THEN began END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_running
FROM   files
WHERE  node IN (SELECT value FROM OPENJSON(@p1) WITH (value int '$'));

-- sql/backlog.sql
-- backlog: counts the rows that wait, by node
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Backlog */
       node,
       count(*) AS ready
FROM   files
WHERE  status IN (0, 3)
GROUP  BY node
ORDER  BY node;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: files_node (node, status); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit, 2: param node []int32
SELECT /* filesq.Peek */ TOP (@p1)
       id, node
FROM   files WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status IN (0, 3)
AND    node IN (SELECT value FROM OPENJSON(@p2) WITH (value int '$'))
ORDER  BY ((select p.priority from priorities p where p.id = files.id)), id;

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
           VALUES ('id', 'bigint'),
                  ('node', 'int'),
                  ('status', 'int'),
                  ('began', 'datetimeoffset')
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
           VALUES ('files_node', 'node, status', 'node, status', ''),
                  ('files_expired', 'began', 'began', 'status=4')
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

-- serves Claim: ready rows, which are then sorted: no index gives their order: files_node serves already

-- serves Recover: claims that ran out
CREATE INDEX files_expired ON files (began)
WHERE  status = 4;
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
-- It has a predicate: while it stands, every INSERT, UPDATE and DELETE of the table fails with error 1934 in a
-- session or a procedure whose QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT or
-- CONCAT_NULL_YIELDS_NULL is OFF, or NUMERIC_ROUNDABORT ON. sqlcmd without -I and the jobs of SQL Server Agent
-- have QUOTED_IDENTIFIER OFF, and a procedure keeps that and ANSI_NULLS as they were when it was created.
