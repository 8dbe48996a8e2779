-- Package crawlsq uses the table crawls as a queue of jobs on SQL Server 2019 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates crawls_like.
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
-- note: no order is said: rows are taken in the order of the key, site, no
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in url; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (site, no)
-- isolation: read committed
-- arguments: 1: limit
WITH /* crawlsq.Claim */ picked AS (
    SELECT TOP (@p1)
           site, no, url, till
    FROM   crawls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (till <= SYSUTCDATETIME() OR till IS NULL)
    ORDER  BY site, no
)
UPDATE picked
SET    till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.site, inserted.no, inserted.url, CONVERT(varchar(27), inserted.till, 126);

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Till
DELETE /* crawlsq.Complete */ crawls
OUTPUT deleted.site, deleted.no
FROM   OPENJSON(@p1) WITH (
           site_held int '$[0]',
           no_held int '$[1]',
           till_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN crawls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    till IS NOT NULL;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Till
DELETE /* crawlsq.Fail */ crawls
OUTPUT deleted.site, deleted.no
FROM   OPENJSON(@p1) WITH (
           site_held int '$[0]',
           no_held int '$[1]',
           till_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN crawls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    till IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Till
UPDATE /* crawlsq.Requeue */ crawls
SET    till = NULL
OUTPUT inserted.site, inserted.no
FROM   OPENJSON(@p1) WITH (
           site_held int '$[0]',
           no_held int '$[1]',
           till_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN crawls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    till IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Till
UPDATE /* crawlsq.Extend */ crawls
SET    till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.site, inserted.no, CONVERT(varchar(27), inserted.till, 126)
FROM   OPENJSON(@p1) WITH (
           site_held int '$[0]',
           no_held int '$[1]',
           till_held varchar(27) '$[2]'
       ) AS job
       INNER LOOP JOIN crawls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    till IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in url: then it adds none
-- locks: the new row, until commit; the rows that are like it, or the place where they would be
-- index: (url)
-- isolation: read committed
-- arguments: 1: new Site, 2: new No, 3: new URL
INSERT /* crawlsq.Enqueue */ INTO crawls
       (site, no, url)
OUTPUT inserted.site, inserted.no
SELECT @p1, @p2, coalesce(CONVERT(varchar(8000), @p3), '/')
WHERE  NOT EXISTS (
           SELECT 1
           FROM   crawls WITH (UPDLOCK, HOLDLOCK)
           WHERE  url = coalesce(CONVERT(varchar(8000), @p3), '/'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* crawlsq.Stats */
       count(CASE WHEN (till <= SYSUTCDATETIME() OR till IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN till IS NOT NULL AND till > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN till IS NOT NULL AND till <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   crawls;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (site, no)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* crawlsq.Peek */ TOP (@p1)
       site, no, url
FROM   crawls WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (till <= SYSUTCDATETIME() OR till IS NULL)
ORDER  BY site, no;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* crawlsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* crawlsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('site', 'int'),
                  ('no', 'int'),
                  ('url', 'varchar'),
                  ('till', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'crawls'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* crawlsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('crawls')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('crawls')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* crawlsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__crawls', 'site, no', 'site', ''),
                  ('crawls_like', 'url', 'url', '')
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
           WHERE  have.object_id = OBJECT_ID('crawls')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PK__crawls serves already

-- serves Enqueue: the rows that are like a new job
CREATE INDEX crawls_like ON crawls (url);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
