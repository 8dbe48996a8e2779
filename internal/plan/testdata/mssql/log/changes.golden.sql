-- Package changesq uses the table dbo.changes as a queue of jobs on SQL Server 2019 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of stamp: each group of consumers reads them behind its mark, which the table changes_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in changes_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- A row is taken when no transaction runs any more that may have given a lower stamp to another: so none can appear behind the mark. A row that is changed gets a higher one, and is taken again.
--
-- Before the package is used, schema/offset.sql creates the table changes_offset, which keeps a mark for each group.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates changes_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of stamp: each group of consumers reads them behind its mark, which the table changes_offset keeps
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
-- note: a row that is changed gets a new value in column "stamp", and is read again

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* changesq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= SYSUTCDATETIME() THEN 1 ELSE 0 END,
       mark_stamp
FROM   dbo.changes_offset
WHERE  consumer_group = @p1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local
INSERT /* changesq.Claim */ INTO dbo.changes_offset
       (consumer_group, turn)
SELECT @p1, 0
WHERE  NOT EXISTS (
           SELECT 1
           FROM   dbo.changes_offset WITH (UPDLOCK, HOLDLOCK)
           WHERE  consumer_group = @p1);

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: (stamp)
-- isolation: read committed
-- arguments: 1: limit
DECLARE /* changesq.Claim */ @horizon binary(8) = MIN_ACTIVE_ROWVERSION();
SELECT TOP (@p1)
       LOWER(CONVERT(char(36), id)), kind, CONVERT(varchar(23), created_at, 126), stamp
FROM   dbo.changes
WHERE  stamp < @horizon
ORDER  BY stamp;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: (stamp)
-- isolation: read committed
-- arguments: 1: limit, 2: new Stamp
DECLARE /* changesq.Claim */ @horizon binary(8) = MIN_ACTIVE_ROWVERSION();
SELECT TOP (@p1)
       LOWER(CONVERT(char(36), id)), kind, CONVERT(varchar(23), created_at, 126), stamp
FROM   dbo.changes
WHERE  stamp > @p2
AND    stamp < @horizon
ORDER  BY stamp;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* changesq.Claim */ dbo.changes_offset
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
-- arguments: 1: new Stamp, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* changesq.Complete */ dbo.changes_offset
SET    mark_stamp = @p1,
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
UPDATE /* changesq.Complete */ dbo.changes_offset
SET    turn = turn + 1
WHERE  consumer_group = @p1
AND    token = @p2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* changesq.Complete */
       passed, finished
FROM   dbo.changes_offset
WHERE  consumer_group = @p1
AND    token = @p2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new Stamp, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* changesq.Complete */ dbo.changes_offset
SET    mark_stamp = @p1,
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
UPDATE /* changesq.Complete */ dbo.changes_offset
SET    finished = @p1
WHERE  consumer_group = @p2
AND    token = @p3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* changesq.Requeue */ dbo.changes_offset
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
UPDATE /* changesq.Extend */ dbo.changes_offset
SET    lease_till = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       turn = turn + 1
WHERE  consumer_group = @p2
AND    token = @p3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* changesq.Rewind */ dbo.changes_offset
SET    mark_stamp = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = @p1;

-- sql/purge_mark.sql
-- purge: the lowest mark, none while a group has read nothing
-- locks: none
SELECT /* changesq.Purge */ TOP (1)
       mark_stamp
FROM   dbo.changes_offset
WHERE  NOT EXISTS (SELECT 1 FROM dbo.changes_offset WHERE mark_stamp IS NULL)
ORDER  BY mark_stamp;

-- sql/purge.sql
-- purge: rows that every group has passed
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: (stamp)
-- isolation: read committed
-- arguments: 1: limit, 2: new Stamp, 3: older
WITH /* changesq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   dbo.changes WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  stamp < @p2
    AND    created_at <= DATEADD(millisecond, -(@p3 - FLOOR(@p3)) * 1000, DATEADD(second, -FLOOR(@p3), GETUTCDATE()))
)
DELETE FROM picked
OUTPUT LOWER(CONVERT(char(36), deleted.id));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Kind
INSERT /* changesq.Enqueue */ INTO dbo.changes
       (id, kind, created_at)
OUTPUT LOWER(CONVERT(char(36), inserted.id))
VALUES (CONVERT(uniqueidentifier, @p1), CONVERT(varchar(8000), @p2), GETUTCDATE());

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* changesq.Stats */
       consumer_group,
       CASE WHEN changes_offset.mark_stamp IS NULL THEN (SELECT count(*) FROM dbo.changes) ELSE (SELECT count(*) FROM dbo.changes WHERE changes.stamp > changes_offset.mark_stamp) END,
       CASE WHEN token IS NULL OR lease_till <= SYSUTCDATETIME() THEN 0 ELSE 1 END,
       DATEDIFF_BIG(millisecond, (CASE WHEN changes_offset.mark_stamp IS NULL THEN (SELECT min(changes.created_at) FROM dbo.changes) ELSE (SELECT min(changes.created_at) FROM dbo.changes WHERE changes.stamp > changes_offset.mark_stamp) END), GETUTCDATE()) / 1000.0
FROM   dbo.changes_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* changesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* changesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'uniqueidentifier'),
                  ('kind', 'varchar'),
                  ('created_at', 'datetime'),
                  ('stamp', 'timestamp')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'changes'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_offset.sql
-- verify: columns of changes_offset
-- locks: none
SELECT /* changesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('consumer_group', 'nvarchar'),
                  ('mark_stamp', 'binary'),
                  ('token', 'varchar'),
                  ('worker', 'nvarchar'),
                  ('lease_till', 'datetime2'),
                  ('passed', 'int'),
                  ('finished', 'nvarchar'),
                  ('turn', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = 'dbo'
       AND have.TABLE_NAME = 'changes_offset'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* changesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('dbo.changes')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('dbo.changes')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* changesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('changes_ready', 'stamp', 'stamp', '')
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
           WHERE  have.object_id = OBJECT_ID('dbo.changes')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX changes_ready ON dbo.changes (stamp);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
