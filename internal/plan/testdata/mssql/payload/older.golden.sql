-- Package olderq uses the table d_mm7 as a queue of jobs on SQL Server 2008 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates d_mm7_older_ready.
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
-- note: no order is said: rows are taken in the order of the key, message_id, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (status, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* olderq.Claim */ picked AS (
    SELECT TOP (@p1)
           message_id, id, server_id, status, send_attempts
    FROM   d_mm7 WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'Q'
    ORDER  BY message_id, id
)
UPDATE picked
SET    status = 'R'
OUTPUT inserted.message_id, inserted.id, inserted.server_id, inserted.send_attempts;

-- sql/payload.sql
-- payload: what claimed jobs have in d_mc7
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
SELECT /* olderq.Payload */
       d_mm7.message_id, d_mm7.id, c.content
FROM   d_mm7
       LEFT JOIN d_mc7 c
       ON  (c.message_id = d_mm7.message_id and c.metadata_id = d_mm7.id and c.content_type = 4)
WHERE  ((d_mm7.message_id = @p0 AND d_mm7.id = @p0));

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
UPDATE /* olderq.Complete */ d_mm7 WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
SET    status = 'S'
OUTPUT inserted.message_id, inserted.id
WHERE  ((message_id = @p0 AND id = @p0))
AND    status = 'R';

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
UPDATE /* olderq.Fail */ d_mm7 WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
SET    status = 'E'
OUTPUT inserted.message_id, inserted.id
WHERE  ((message_id = @p0 AND id = @p0))
AND    status = 'R';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list MessageID ID
UPDATE /* olderq.Requeue */ d_mm7 WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
SET    status = 'Q'
OUTPUT inserted.message_id, inserted.id
WHERE  ((message_id = @p0 AND id = @p0))
AND    status = 'R';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* olderq.Redrive */ picked AS (
    SELECT TOP (@p1)
           message_id, id, status
    FROM   d_mm7 WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status = 'E'
)
UPDATE picked
SET    status = 'Q'
OUTPUT inserted.message_id, inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* olderq.Purge */ picked AS (
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
-- index: (status, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* olderq.Purge */ picked AS (
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
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID, 4: new SendAttempts
INSERT /* olderq.Enqueue */ INTO d_mm7
       (message_id, id, server_id, status, send_attempts)
OUTPUT inserted.message_id, inserted.id
VALUES (@p1, @p2, CONVERT(varchar(8000), @p3), 'Q', coalesce(@p4, 0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* olderq.Stats */
       count(CASE WHEN status = 'Q' THEN 1 END) AS ready,
       count(CASE WHEN status = 'R' THEN 1 END) AS running,
       count(CASE WHEN status = 'S' THEN 1 END) AS done,
       count(CASE WHEN status = 'E' THEN 1 END) AS failed
FROM   d_mm7;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, message_id, id)
SELECT /* olderq.Backlog */
       count(*) AS ready
FROM   d_mm7
WHERE  status = 'Q';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, message_id, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* olderq.Peek */ TOP (@p1)
       message_id, id, server_id, send_attempts
FROM   d_mm7 WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status = 'Q'
ORDER  BY message_id, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* olderq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2008'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2008';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* olderq.Verify */
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
SELECT /* olderq.Verify */
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
SELECT /* olderq.Verify */
       'the isolation level of the session is above READ COMMITTED, where claims are refused (error 650); set it back'
FROM   sys.dm_exec_sessions AS have
WHERE  have.session_id = @@SPID
AND    have.transaction_isolation_level NOT IN (1, 2)
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
SELECT /* olderq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('d_mm7_older_ready', 'status, message_id, id', 'status', '')
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
CREATE INDEX d_mm7_older_ready ON d_mm7 (status, message_id, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
