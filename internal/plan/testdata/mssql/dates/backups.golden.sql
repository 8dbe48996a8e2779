-- Package backupsq uses the table backups as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* backupsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, till, seen, kept
    FROM   backups WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (till <= GETUTCDATE() OR till = '9999-12-31T00:00:00')
    ORDER  BY id
)
UPDATE picked
SET    till = DATEADD(minute, 5, GETUTCDATE()),
       seen = '2000-01-02T03:04:00',
       kept = '2000-01-02 03:04:05'
OUTPUT inserted.id, CONVERT(varchar(23), inserted.till, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
DELETE /* backupsq.Complete */ backups
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           till_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime, till_held, 126)
AND    till <> '9999-12-31T00:00:00';

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
DELETE /* backupsq.Fail */ backups
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           till_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime, till_held, 126)
AND    till <> '9999-12-31T00:00:00';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* backupsq.Requeue */ backups
SET    till = '9999-12-31T00:00:00'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           till_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime, till_held, 126)
AND    till <> '9999-12-31T00:00:00';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* backupsq.Extend */ backups
SET    till = DATEADD(minute, 5, GETUTCDATE())
OUTPUT inserted.id, CONVERT(varchar(23), inserted.till, 126)
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]',
           till_held varchar(23) '$[1]'
       ) AS job
       INNER LOOP JOIN backups WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime, till_held, 126)
AND    till <> '9999-12-31T00:00:00';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* backupsq.Enqueue */ INTO backups
       (till)
OUTPUT inserted.id
VALUES ('9999-12-31T00:00:00');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* backupsq.Stats */
       count(CASE WHEN (till <= GETUTCDATE() OR till = '9999-12-31T00:00:00') THEN 1 END) AS ready,
       count(CASE WHEN till <> '9999-12-31T00:00:00' AND till > GETUTCDATE() THEN 1 END) AS running,
       count(CASE WHEN till <> '9999-12-31T00:00:00' AND till <= GETUTCDATE() THEN 1 END) AS expired
FROM   backups;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* backupsq.Peek */ TOP (@p1)
       id, CONVERT(varchar(23), till, 126)
FROM   backups WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (till <= GETUTCDATE() OR till = '9999-12-31T00:00:00')
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* backupsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* backupsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'int'),
                  ('till', 'datetime'),
                  ('seen', 'smalldatetime'),
                  ('kept', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'backups'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* backupsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('backups')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('backups')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* backupsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__backups', 'id', 'id', '')
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
           WHERE  have.object_id = OBJECT_ID('backups')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PK__backups serves already
