-- Package mirthq uses the table d_mm7 as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates d_mm7_mirth_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: tries have no limit, so Fail always puts the job back (max= or a column of limits at qgen:attempts, or an outcome to failed)
-- note: no order is said: rows are taken in the order of the key, message_id, id

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param serverID string, 3: held_all MessageID ID
SELECT /* mirthq.Claim */ TOP (@p1)
       message_id, id, server_id, send_attempts
FROM   d_mm7 WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  status = 'Q'
AND    server_id = CONVERT(varchar(8000), @p2)
AND    NOT EXISTS (
           SELECT 1
           FROM   OPENJSON(@p3) WITH (message_id_held bigint '$[0]', id_held int '$[1]') AS job
           WHERE  message_id = message_id_held
           AND    id = id_held)
ORDER  BY message_id, id;

-- sql/payload.sql
-- payload: what claimed jobs have in d_mc7
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MessageID ID
SELECT /* mirthq.Payload */
       d_mm7.message_id, d_mm7.id, c.content
FROM   OPENJSON(@p1) WITH (
           message_id_held bigint '$[0]',
           id_held int '$[1]'
       ) AS job
       INNER LOOP JOIN d_mm7
       ON  d_mm7.message_id = message_id_held
       AND d_mm7.id = id_held
       LEFT JOIN d_mc7 c
       ON  (c.message_id = d_mm7.message_id and c.metadata_id = d_mm7.id and c.content_type = 4);

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MessageID ID
UPDATE /* mirthq.Complete */ d_mm7
SET    status = 'S'
OUTPUT inserted.message_id, inserted.id
FROM   OPENJSON(@p1) WITH (
           message_id_held bigint '$[0]',
           id_held int '$[1]'
       ) AS job
       INNER LOOP JOIN d_mm7 WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  message_id = message_id_held
       AND id = id_held
WHERE  status = 'Q';

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MessageID ID
UPDATE /* mirthq.Fail */ d_mm7
SET    send_attempts = send_attempts + 1
OUTPUT inserted.message_id, inserted.id
FROM   OPENJSON(@p1) WITH (
           message_id_held bigint '$[0]',
           id_held int '$[1]'
       ) AS job
       INNER LOOP JOIN d_mm7 WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  message_id = message_id_held
       AND id = id_held
WHERE  status = 'Q';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* mirthq.Redrive */ picked AS (
    SELECT TOP (@p1)
           message_id, id, status, send_attempts
    FROM   d_mm7 WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'E'
)
UPDATE picked
SET    status = 'Q',
       send_attempts = 0
OUTPUT inserted.message_id, inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* mirthq.Purge */ picked AS (
    SELECT TOP (@p1)
           message_id, id
    FROM   d_mm7 WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'S'
)
DELETE FROM picked
OUTPUT deleted.message_id, deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* mirthq.Purge */ picked AS (
    SELECT TOP (@p1)
           message_id, id
    FROM   d_mm7 WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'E'
)
DELETE FROM picked
OUTPUT deleted.message_id, deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID
INSERT /* mirthq.Enqueue */ INTO d_mm7
       (message_id, id, server_id, status)
OUTPUT inserted.message_id, inserted.id
VALUES (@p1, @p2, CONVERT(varchar(8000), @p3), 'Q');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mirthq.Stats */
       count(CASE WHEN status = 'Q' THEN 1 END) AS ready,
       count(CASE WHEN status = 'S' THEN 1 END) AS done,
       count(CASE WHEN status = 'E' THEN 1 END) AS failed
FROM   d_mm7;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same server_id is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param serverID string
SELECT /* mirthq.StatsOf */
       count(CASE WHEN status = 'Q' THEN 1 END) AS ready,
       count(CASE WHEN status = 'S' THEN 1 END) AS done,
       count(CASE WHEN status = 'E' THEN 1 END) AS failed
FROM   d_mm7
WHERE  server_id = CONVERT(varchar(8000), @p1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by server_id
-- locks: none
-- index: (status, server_id, message_id, id)
SELECT /* mirthq.Backlog */
       server_id,
       count(*) AS ready
FROM   d_mm7
WHERE  status = 'Q'
GROUP  BY server_id
ORDER  BY server_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, server_id, message_id, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param serverID string
SELECT /* mirthq.Peek */ TOP (@p1)
       message_id, id, server_id, send_attempts
FROM   d_mm7 WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 'Q'
AND    server_id = CONVERT(varchar(8000), @p2)
ORDER  BY message_id, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mirthq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mirthq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('message_id', 'bigint'),
                  ('id', 'int'),
                  ('server_id', 'varchar'),
                  ('status', 'char'),
                  ('send_attempts', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'd_mm7'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of d_mc7
-- locks: none
SELECT /* mirthq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('content', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'd_mc7'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mirthq.Verify */
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
WHERE  have.object_id = OBJECT_ID('d_mm7')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('d_mm7')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mirthq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('d_mm7_mirth_ready', 'status, server_id, message_id, id', 'status, server_id', '')
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
           WHERE  have.object_id = OBJECT_ID('d_mm7')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX d_mm7_mirth_ready ON d_mm7 (status, server_id, message_id, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
