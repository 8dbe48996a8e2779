-- Package poppedq uses the table dbo.email_outbox as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates email_outbox_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, kind, priority DESC, created_at DESC, msg_id, not_before)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind string
WITH /* poppedq.Claim */ picked AS (
    SELECT TOP (@p1)
           msg_id, state, kind, priority, created_at, not_before, lease_till, token, tries,
           last_error, body, seen
    FROM   dbo.email_outbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    (not_before <= SYSUTCDATETIME() OR not_before IS NULL)
    AND    kind = CONVERT(varchar(8000), @p2)
    ORDER  BY priority DESC, created_at DESC, msg_id
)
UPDATE picked
SET    state = 'C',
       lease_till = NULL
OUTPUT inserted.msg_id, inserted.kind, inserted.priority,
       CONVERT(varchar(33), inserted.created_at, 126),
       CONVERT(varchar(27), inserted.not_before, 126),
       CONVERT(varchar(27), inserted.lease_till, 126),
       LOWER(CONVERT(char(36), inserted.token)), inserted.tries, inserted.last_error,
       inserted.body, inserted.seen;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, priority DESC, created_at DESC, msg_id, not_before); it reads those that are not old enough as well, which one on (state, created_at) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* poppedq.Purge */ picked AS (
    SELECT TOP (@p1)
           msg_id
    FROM   dbo.email_outbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'C'
    AND    created_at <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSDATETIMEOFFSET()))
)
DELETE FROM picked
OUTPUT deleted.msg_id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new NotBefore, 4: new Body
INSERT /* poppedq.Enqueue */ INTO dbo.email_outbox
       (kind, priority, created_at, not_before, body)
OUTPUT inserted.msg_id
VALUES (CONVERT(varchar(8000), @p1), coalesce(@p2, (0)), SYSDATETIMEOFFSET(),
        CONVERT(datetime2, @p3, 126), @p4);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Kind Priority NotBefore Body
SET /* poppedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           msg_id bigint
       );
INSERT INTO dbo.email_outbox
       (kind, priority, created_at, not_before, body)
OUTPUT inserted.msg_id
INTO   @kept
SELECT CONVERT(varchar(8000), kind_new), coalesce(priority_new, (0)), SYSDATETIMEOFFSET(),
       CONVERT(datetime2, not_before_new, 126), body_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           kind_new nvarchar(4000) '$[0]',
           priority_new int '$[1]',
           not_before_new varchar(27) '$[2]',
           body_new nvarchar(max) '$[3]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT msg_id
FROM   @kept
ORDER  BY msg_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* poppedq.Stats */
       count(CASE WHEN state = 'N' AND (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'C' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND not_before > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN state = 'A' AND lease_till <= SYSUTCDATETIME() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'N' AND (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN created_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   dbo.email_outbox;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* poppedq.StatsOf */
       count(CASE WHEN state = 'N' AND (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'C' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'N' AND not_before > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN state = 'A' AND lease_till <= SYSUTCDATETIME() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'N' AND (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN created_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   dbo.email_outbox
WHERE  kind = CONVERT(varchar(8000), @p1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (state, kind, priority DESC, created_at DESC, msg_id, not_before)
SELECT /* poppedq.Backlog */
       kind,
       count(CASE WHEN (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN not_before > SYSUTCDATETIME() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN (not_before <= SYSUTCDATETIME() OR not_before IS NULL) THEN created_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   dbo.email_outbox
WHERE  state = 'N'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, kind, priority DESC, created_at DESC, msg_id, not_before)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind string
SELECT /* poppedq.Peek */ TOP (@p1)
       msg_id, kind, priority, CONVERT(varchar(33), created_at, 126),
       CONVERT(varchar(27), not_before, 126), CONVERT(varchar(27), lease_till, 126),
       LOWER(CONVERT(char(36), token)), tries, last_error, body, seen
FROM   dbo.email_outbox WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    (not_before <= SYSUTCDATETIME() OR not_before IS NULL)
AND    kind = CONVERT(varchar(8000), @p2)
ORDER  BY priority DESC, created_at DESC, msg_id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* poppedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* poppedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('msg_id', 'bigint'),
                  ('state', 'char'),
                  ('kind', 'varchar'),
                  ('priority', 'int'),
                  ('created_at', 'datetimeoffset'),
                  ('not_before', 'datetime2'),
                  ('lease_till', 'datetime2'),
                  ('token', 'uniqueidentifier'),
                  ('tries', 'int'),
                  ('last_error', 'nvarchar'),
                  ('body', 'nvarchar'),
                  ('seen', 'timestamp')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'email_outbox'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* poppedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.email_outbox')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.email_outbox')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* poppedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('email_outbox_ready', 'state, kind, priority desc, created_at desc, msg_id', 'state, kind, priority desc, created_at desc', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.email_outbox')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
-- emailq advises the same
CREATE INDEX email_outbox_ready ON dbo.email_outbox (state, kind, priority DESC, created_at DESC, msg_id, not_before);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
