-- Package eventsq uses the table dbo.events as a queue of jobs on SQL Server 2019 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in events_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- A row is taken when it was added 1 minute ago, and not before any in front of it. A row whose transaction takes longer may appear behind the mark, and is then never read: no transaction that adds rows may take longer than half of that, from its beginning to its end.
--
-- Before the package is used, schema/offset.sql creates the table events_offset, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps
--   lease_table  rows are only added, and nothing is claimed but what stands behind a mark
--   hold         not needed: offset comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQL Server has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* eventsq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= SYSUTCDATETIME() THEN 1 ELSE 0 END,
       mark_id
FROM   dbo.events_offset
WHERE  consumer_group = @p1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local
INSERT /* eventsq.Claim */ INTO dbo.events_offset
       (consumer_group, turn)
SELECT @p1, 0
WHERE  NOT EXISTS (
           SELECT 1
           FROM   dbo.events_offset WITH (UPDLOCK, HOLDLOCK)
           WHERE  consumer_group = @p1);

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Claim */ TOP (@p1)
       CASE WHEN created_at <= DATEADD(minute, -1, SYSUTCDATETIME()) THEN 1 ELSE 0 END, id,
       kind, CONVERT(varchar(27), created_at, 126), body
FROM   dbo.events
ORDER  BY id;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: new ID
SELECT /* eventsq.Claim */ TOP (@p1)
       CASE WHEN created_at <= DATEADD(minute, -1, SYSUTCDATETIME()) THEN 1 ELSE 0 END, id,
       kind, CONVERT(varchar(27), created_at, 126), body
FROM   dbo.events
WHERE  id > @p2
ORDER  BY id;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* eventsq.Claim */ dbo.events_offset
SET    token = @p1,
       worker = @p2,
       lease_till = DATEADD(millisecond, (@p3 - FLOOR(@p3)) * 1000, DATEADD(second, FLOOR(@p3), SYSUTCDATETIME())),
       passed = 0,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = @p4
AND    turn = @p5;

-- sql/complete.sql
-- complete: the next rows of the claim, to which the mark moves
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ dbo.events_offset
SET    mark_id = @p1,
       passed = @p2,
       token = @p3,
       turn = turn + 1
WHERE  consumer_group = @p4
AND    token = @p5
AND    passed = @p6
AND    finished IS NULL;

-- sql/complete_lock.sql
-- complete: locks the row of the group, where rows are finished out of order
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Complete */ dbo.events_offset
SET    turn = turn + 1
WHERE  consumer_group = @p1
AND    token = @p2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* eventsq.Complete */
       passed, finished
FROM   dbo.events_offset
WHERE  consumer_group = @p1
AND    token = @p2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ dbo.events_offset
SET    mark_id = @p1,
       passed = @p2,
       finished = @p3,
       token = @p4
WHERE  consumer_group = @p5
AND    token = @p6;

-- sql/complete_note.sql
-- complete: remembers finished rows behind one that is not
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local, 3: local
UPDATE /* eventsq.Complete */ dbo.events_offset
SET    finished = @p1
WHERE  consumer_group = @p2
AND    token = @p3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Requeue */ dbo.events_offset
SET    token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = @p1
AND    token = @p2;

-- sql/extend.sql
-- extend: the lease of the claim begins anew
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: lease, 2: local, 3: local
UPDATE /* eventsq.Extend */ dbo.events_offset
SET    lease_till = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       turn = turn + 1
WHERE  consumer_group = @p2
AND    token = @p3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* eventsq.Rewind */ dbo.events_offset
SET    mark_id = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = @p1;

-- sql/purge_mark.sql
-- purge: the lowest mark, none while a group has read nothing
-- locks: none
SELECT /* eventsq.Purge */ TOP (1)
       mark_id
FROM   dbo.events_offset
WHERE  NOT EXISTS (SELECT 1 FROM dbo.events_offset WHERE mark_id IS NULL)
ORDER  BY mark_id;

-- sql/purge.sql
-- purge: rows that every group has passed
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: new ID, 3: older
WITH /* eventsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   dbo.events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  id < @p2
    AND    created_at <= DATEADD(millisecond, -(@p3 - FLOOR(@p3)) * 1000, DATEADD(second, -FLOOR(@p3), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Body
INSERT /* eventsq.Enqueue */ INTO dbo.events
       (kind, created_at, body)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @p1), SYSUTCDATETIME(), @p2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Kind Body
SET /* eventsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO dbo.events
       (kind, created_at, body)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), kind_new), SYSUTCDATETIME(), body_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           kind_new nvarchar(4000) '$[0]',
           body_new nvarchar(max) '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* eventsq.Stats */
       consumer_group,
       CASE WHEN events_offset.mark_id IS NULL THEN (SELECT count(*) FROM dbo.events) ELSE (SELECT count(*) FROM dbo.events WHERE events.id > events_offset.mark_id) END,
       CASE WHEN token IS NULL OR lease_till <= SYSUTCDATETIME() THEN 0 ELSE 1 END,
       DATEDIFF_BIG(millisecond, (CASE WHEN events_offset.mark_id IS NULL THEN (SELECT min(events.created_at) FROM dbo.events) ELSE (SELECT min(events.created_at) FROM dbo.events WHERE events.id > events_offset.mark_id) END), SYSUTCDATETIME()) / 1000.0
FROM   dbo.events_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('kind', 'varchar'),
                  ('created_at', 'datetime2'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'events'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_offset.sql
-- verify: columns of events_offset
-- locks: none
SELECT /* eventsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('consumer_group', 'nvarchar'),
                  ('mark_id', 'bigint'),
                  ('token', 'varchar'),
                  ('worker', 'nvarchar'),
                  ('lease_till', 'datetime2'),
                  ('passed', 'int'),
                  ('finished', 'nvarchar'),
                  ('turn', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'events_offset'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* eventsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.events')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.events')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__events', 'id', 'id', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.events')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PK__events serves already
