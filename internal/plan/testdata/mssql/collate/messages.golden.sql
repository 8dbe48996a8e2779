-- Package messagesq uses the table dbo.messages as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: no order is said: rows are taken in the order of the key, message_key, part
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (message_key, part)
-- isolation: read committed
-- arguments: 1: limit, 2: param topic []string, 3: param tenant []string, 4: param site []string, 5: worker Owner
WITH /* messagesq.Claim */ picked AS (
    SELECT TOP (@p1)
           message_key, part, owner, topic, tenant, site, locked_until, body
    FROM   dbo.messages WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (locked_until <= SYSUTCDATETIME() OR locked_until IS NULL)
    AND    topic IN (SELECT CONVERT(varchar(8000), value) COLLATE Modern_Spanish_CI_AS FROM OPENJSON(@p2) WITH (value nvarchar(4000) '$'))
    AND    tenant IN (SELECT CONVERT(uniqueidentifier, value) FROM OPENJSON(@p3) WITH (value nvarchar(36) '$'))
    AND    site NOT IN (SELECT CONVERT(varchar(8000), value) FROM OPENJSON(@p4) WITH (value nvarchar(4000) '$'))
    ORDER  BY message_key, part
)
UPDATE picked
SET    owner = @p5,
       locked_until = DATEADD(second, 30, SYSUTCDATETIME())
OUTPUT inserted.message_key, inserted.part, inserted.owner, inserted.topic,
       LOWER(CONVERT(char(36), inserted.tenant)), inserted.site,
       CONVERT(varchar(27), inserted.locked_until, 126), inserted.body;

-- sql/complete.sql
-- complete: running to done
-- fence: locked_until, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MessageKey Part LockedUntil Owner
DELETE /* messagesq.Complete */ dbo.messages
OUTPUT deleted.message_key, deleted.part
FROM   OPENJSON(@p1) WITH (
           message_key_held nvarchar(4000) '$[0]',
           part_held nvarchar(4000) '$[1]',
           locked_until_held varchar(27) '$[2]',
           owner_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN dbo.messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  message_key = CONVERT(nvarchar(4000), message_key_held) COLLATE Latin1_General_BIN2
       AND part = CONVERT(varchar(8000), part_held) COLLATE Latin1_General_BIN2
WHERE  locked_until = CONVERT(datetime2, locked_until_held, 126)
AND    owner = CONVERT(varchar(8000), owner_held) COLLATE Modern_Spanish_CI_AS
AND    locked_until IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready
-- fence: locked_until, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MessageKey Part LockedUntil Owner
UPDATE /* messagesq.Fail */ dbo.messages
SET    owner = NULL,
       locked_until = NULL
OUTPUT inserted.message_key, inserted.part
FROM   OPENJSON(@p1) WITH (
           message_key_held nvarchar(4000) '$[0]',
           part_held nvarchar(4000) '$[1]',
           locked_until_held varchar(27) '$[2]',
           owner_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN dbo.messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  message_key = CONVERT(nvarchar(4000), message_key_held) COLLATE Latin1_General_BIN2
       AND part = CONVERT(varchar(8000), part_held) COLLATE Latin1_General_BIN2
WHERE  locked_until = CONVERT(datetime2, locked_until_held, 126)
AND    owner = CONVERT(varchar(8000), owner_held) COLLATE Modern_Spanish_CI_AS
AND    locked_until IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: locked_until, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MessageKey Part LockedUntil Owner
UPDATE /* messagesq.Requeue */ dbo.messages
SET    owner = NULL,
       locked_until = NULL
OUTPUT inserted.message_key, inserted.part
FROM   OPENJSON(@p1) WITH (
           message_key_held nvarchar(4000) '$[0]',
           part_held nvarchar(4000) '$[1]',
           locked_until_held varchar(27) '$[2]',
           owner_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN dbo.messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  message_key = CONVERT(nvarchar(4000), message_key_held) COLLATE Latin1_General_BIN2
       AND part = CONVERT(varchar(8000), part_held) COLLATE Latin1_General_BIN2
WHERE  locked_until = CONVERT(datetime2, locked_until_held, 126)
AND    owner = CONVERT(varchar(8000), owner_held) COLLATE Modern_Spanish_CI_AS
AND    locked_until IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: locked_until, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all MessageKey Part LockedUntil Owner
UPDATE /* messagesq.Extend */ dbo.messages
SET    locked_until = DATEADD(second, 30, SYSUTCDATETIME())
OUTPUT inserted.message_key, inserted.part,
       CONVERT(varchar(27), inserted.locked_until, 126)
FROM   OPENJSON(@p1) WITH (
           message_key_held nvarchar(4000) '$[0]',
           part_held nvarchar(4000) '$[1]',
           locked_until_held varchar(27) '$[2]',
           owner_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN dbo.messages WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  message_key = CONVERT(nvarchar(4000), message_key_held) COLLATE Latin1_General_BIN2
       AND part = CONVERT(varchar(8000), part_held) COLLATE Latin1_General_BIN2
WHERE  locked_until = CONVERT(datetime2, locked_until_held, 126)
AND    owner = CONVERT(varchar(8000), owner_held) COLLATE Modern_Spanish_CI_AS
AND    locked_until IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MessageKey, 2: new Part, 3: new Topic, 4: new Tenant, 5: new Site, 6: new Body
INSERT /* messagesq.Enqueue */ INTO dbo.messages
       (message_key, part, topic, tenant, site, body)
OUTPUT inserted.message_key, inserted.part
VALUES (@p1, CONVERT(varchar(8000), @p2), CONVERT(varchar(8000), @p3),
        CONVERT(uniqueidentifier, @p4), CONVERT(varchar(8000), @p5), @p6);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* messagesq.Stats */
       count(CASE WHEN (locked_until <= SYSUTCDATETIME() OR locked_until IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN locked_until IS NOT NULL AND locked_until > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN locked_until IS NOT NULL AND locked_until <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   dbo.messages;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same topic, tenant and site is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param topic []string, 2: param tenant []string, 3: param site []string
SELECT /* messagesq.StatsOf */
       count(CASE WHEN (locked_until <= SYSUTCDATETIME() OR locked_until IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN locked_until IS NOT NULL AND locked_until > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN locked_until IS NOT NULL AND locked_until <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   dbo.messages
WHERE  topic IN (SELECT CONVERT(varchar(8000), value) COLLATE Modern_Spanish_CI_AS FROM OPENJSON(@p1) WITH (value nvarchar(4000) '$'))
AND    tenant IN (SELECT CONVERT(uniqueidentifier, value) FROM OPENJSON(@p2) WITH (value nvarchar(36) '$'))
AND    site NOT IN (SELECT CONVERT(varchar(8000), value) FROM OPENJSON(@p3) WITH (value nvarchar(4000) '$'));

-- sql/backlog.sql
-- backlog: counts the rows that wait, by topic, tenant and site
-- locks: none
-- index: none; it reads the whole table
SELECT /* messagesq.Backlog */
       topic,
       LOWER(CONVERT(char(36), tenant)),
       site,
       count(*) AS ready
FROM   dbo.messages
WHERE  (locked_until <= SYSUTCDATETIME() OR locked_until IS NULL)
GROUP  BY topic, tenant, site
ORDER  BY topic, tenant, site;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (message_key, part)
-- isolation: read committed
-- arguments: 1: limit, 2: param topic []string, 3: param tenant []string, 4: param site []string
SELECT /* messagesq.Peek */ TOP (@p1)
       message_key, part, topic, LOWER(CONVERT(char(36), tenant)), site, body
FROM   dbo.messages WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (locked_until <= SYSUTCDATETIME() OR locked_until IS NULL)
AND    topic IN (SELECT CONVERT(varchar(8000), value) COLLATE Modern_Spanish_CI_AS FROM OPENJSON(@p2) WITH (value nvarchar(4000) '$'))
AND    tenant IN (SELECT CONVERT(uniqueidentifier, value) FROM OPENJSON(@p3) WITH (value nvarchar(36) '$'))
AND    site NOT IN (SELECT CONVERT(varchar(8000), value) FROM OPENJSON(@p4) WITH (value nvarchar(4000) '$'))
ORDER  BY message_key, part;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* messagesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* messagesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('message_key', 'nvarchar'),
                  ('part', 'varchar'),
                  ('owner', 'varchar'),
                  ('topic', 'varchar'),
                  ('tenant', 'uniqueidentifier'),
                  ('site', 'varchar'),
                  ('locked_until', 'datetime2'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'messages'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* messagesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.messages')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.messages')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* messagesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('pk_messages', 'message_key, part', 'message_key', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.messages')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows of another topic are read and passed over; rows of another tenant are read and passed over; rows of another site are read and passed over: pk_messages serves already
