-- Package outboxq uses the table outbox as a queue of jobs on SQL Server 2016 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates outbox_ready.
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
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (sent, made, id)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder, 3: lease
WITH /* outboxq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, made, holder, till, body
    FROM   outbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  sent = 0
    AND    (till <= SYSUTCDATETIME() OR till = '2000-01-01 00:00:00' OR holder = @p2)
    ORDER  BY made, id
)
UPDATE picked
SET    holder = @p2,
       till = DATEADD(millisecond, (@p3 - FLOOR(@p3)) * 1000, DATEADD(second, FLOOR(@p3), SYSUTCDATETIME()))
OUTPUT LOWER(CONVERT(char(36), inserted.id)), CONVERT(varchar(27), inserted.made, 126),
       inserted.holder, CONVERT(varchar(27), inserted.till, 126), inserted.body;

-- sql/complete.sql
-- complete: running to done
-- fence: till, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till Holder
UPDATE /* outboxq.Complete */ outbox
SET    till = '2000-01-01 00:00:00',
       sent = 1
OUTPUT LOWER(CONVERT(char(36), inserted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           till_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    holder = holder_held
AND    sent = 0
AND    till <> '2000-01-01 00:00:00';

-- sql/retry.sql
-- retry: running to ready
-- fence: till, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till Holder
UPDATE /* outboxq.Fail */ outbox
SET    holder = '',
       till = '2000-01-01 00:00:00'
OUTPUT LOWER(CONVERT(char(36), inserted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           till_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    holder = holder_held
AND    sent = 0
AND    till <> '2000-01-01 00:00:00';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till Holder
UPDATE /* outboxq.Requeue */ outbox
SET    holder = '',
       till = '2000-01-01 00:00:00'
OUTPUT LOWER(CONVERT(char(36), inserted.id))
FROM   OPENJSON(@p1) WITH (
           id_held nvarchar(36) '$[0]',
           till_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    holder = holder_held
AND    sent = 0
AND    till <> '2000-01-01 00:00:00';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: lease, 2: batch_all ID Till Holder
UPDATE /* outboxq.Extend */ outbox
SET    till = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME()))
OUTPUT LOWER(CONVERT(char(36), inserted.id)), CONVERT(varchar(27), inserted.till, 126)
FROM   OPENJSON(@p2) WITH (
           id_held nvarchar(36) '$[0]',
           till_held varchar(27) '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = CONVERT(uniqueidentifier, id_held)
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    holder = holder_held
AND    sent = 0
AND    till <> '2000-01-01 00:00:00';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (sent, made, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* outboxq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   outbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  sent = 1
)
DELETE FROM picked
OUTPUT LOWER(CONVERT(char(36), deleted.id));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Made, 3: new Body
INSERT /* outboxq.Enqueue */ INTO outbox
       (id, made, holder, till, sent, body)
OUTPUT LOWER(CONVERT(char(36), inserted.id))
VALUES (CONVERT(uniqueidentifier, @p1), CONVERT(datetime2, @p2, 126), '',
        '2000-01-01 00:00:00', 0, @p3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: worker Holder
SELECT /* outboxq.Stats */
       count(CASE WHEN sent = 0 AND (till <= SYSUTCDATETIME() OR till = '2000-01-01 00:00:00' OR holder = @p1) THEN 1 END) AS ready,
       count(CASE WHEN sent = 0 AND till <> '2000-01-01 00:00:00' AND till > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN sent = 1 THEN 1 END) AS done,
       count(CASE WHEN sent = 0 AND till <> '2000-01-01 00:00:00' AND till <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   outbox;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (sent, made, id); it reads others as well
-- arguments: 1: worker Holder
SELECT /* outboxq.Backlog */
       count(*) AS ready
FROM   outbox
WHERE  sent = 0
AND    (till <= SYSUTCDATETIME() OR till = '2000-01-01 00:00:00' OR holder = @p1);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (sent, made, id)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
SELECT /* outboxq.Peek */ TOP (@p1)
       LOWER(CONVERT(char(36), id)), CONVERT(varchar(27), made, 126), holder,
       CONVERT(varchar(27), till, 126), body
FROM   outbox WITH (READPAST, READCOMMITTEDLOCK)
WHERE  sent = 0
AND    (till <= SYSUTCDATETIME() OR till = '2000-01-01 00:00:00' OR holder = @p2)
ORDER  BY made, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* outboxq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2016'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2016';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* outboxq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'uniqueidentifier'),
                  ('made', 'datetime2'),
                  ('holder', 'nvarchar'),
                  ('till', 'datetime2'),
                  ('sent', 'bit'),
                  ('body', 'varbinary')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'outbox'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* outboxq.Verify */
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
WHERE  have.object_id = OBJECT_ID('outbox')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('outbox')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* outboxq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('outbox_ready', 'sent, made, id', 'sent, made, id', '')
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
           WHERE  have.object_id = OBJECT_ID('outbox')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX outbox_ready ON outbox (sent, made, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
