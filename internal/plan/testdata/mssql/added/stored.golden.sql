-- Package storedq uses the table letters as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes pages (Enqueue, Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_claim
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Claim */ picked AS (
    SELECT TOP (@limit)
           id, state, lease_till, address, cause
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY id
)
UPDATE picked
SET    state = 'busy',
       lease_till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.lease_till, 126), inserted.address,
       inserted.cause;
GO

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Claim */ letters_claim @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_complete
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Complete */ letters
SET    state = 'sent',
       lease_till = NULL,
       ended = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           lease_till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  lease_till = CONVERT(datetime2, lease_till_held, 126)
AND    state = 'busy';
GO

-- sql/complete.sql
-- complete: running to done
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LeaseTill
EXEC /* storedq.Complete */ letters_complete @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_fail
    @error nvarchar(max),
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Fail */ letters
SET    state = 'error',
       lease_till = NULL,
       ended = SYSUTCDATETIME(),
       cause = @error
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           lease_till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  lease_till = CONVERT(datetime2, lease_till_held, 126)
AND    state = 'busy';
GO

-- sql/fail.sql
-- fail: running to failed
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID LeaseTill
EXEC /* storedq.Fail */ letters_fail @error = @p1, @jobs = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_requeue
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Requeue */ letters
SET    state = 'new',
       lease_till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           lease_till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  lease_till = CONVERT(datetime2, lease_till_held, 126)
AND    state = 'busy';
GO

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LeaseTill
EXEC /* storedq.Requeue */ letters_requeue @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_extend
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
UPDATE /* storedq.Extend */ letters
SET    lease_till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.lease_till, 126)
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]',
           lease_till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  lease_till = CONVERT(datetime2, lease_till_held, 126)
AND    state = 'busy';
GO

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID LeaseTill
EXEC /* storedq.Extend */ letters_extend @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_recover
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Recover */ picked AS (
    SELECT TOP (@limit)
           id, state, lease_till
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'busy'
    AND    lease_till <= SYSUTCDATETIME()
)
UPDATE picked
SET    state = 'new',
       lease_till = NULL
OUTPUT inserted.id;
GO

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Recover */ letters_recover @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_redrive
    @limit int
AS
SET NOCOUNT ON;
WITH /* storedq.Redrive */ picked AS (
    SELECT TOP (@limit)
           id, state, lease_till, ended
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'error'
)
UPDATE picked
SET    state = 'new',
       lease_till = NULL,
       ended = NULL
OUTPUT inserted.id;
GO

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Redrive */ letters_redrive @limit = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_purge_done_lock
    @limit int,
    @olderSeconds float
AS
SET NOCOUNT ON;
SELECT /* storedq.Purge */ TOP (@limit)
       id
FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'sent'
AND    ended <= DATEADD(millisecond, -(@olderSeconds - FLOOR(@olderSeconds)) * 1000, DATEADD(second, -FLOOR(@olderSeconds), SYSUTCDATETIME()));
GO

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
EXEC /* storedq.Purge */ letters_purge_done_lock @limit = @p1, @olderSeconds = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_purge_done_delete_pages
    @jobs nvarchar(max)
AS
DELETE /* storedq.Purge */ pages
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN pages
       ON  pages.letter_id = held.id;
GO

-- sql/purge_done_delete_pages.sql
-- purge_done: deletes rows from pages for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key; of pages one that begins with letter_id
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Purge */ letters_purge_done_delete_pages @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_purge_done
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
DELETE /* storedq.Purge */ letters
OUTPUT deleted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'sent';
GO

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Purge */ letters_purge_done @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_purge_failed_lock
    @limit int,
    @olderSeconds float
AS
SET NOCOUNT ON;
SELECT /* storedq.Purge */ TOP (@limit)
       id
FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'error'
AND    ended <= DATEADD(millisecond, -(@olderSeconds - FLOOR(@olderSeconds)) * 1000, DATEADD(second, -FLOOR(@olderSeconds), SYSUTCDATETIME()));
GO

-- sql/purge_failed_lock.sql
-- purge_failed: locks rows, which purge_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, ended) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
EXEC /* storedq.Purge */ letters_purge_failed_lock @limit = @p1, @olderSeconds = @p2;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_purge_failed_delete_pages
    @jobs nvarchar(max)
AS
DELETE /* storedq.Purge */ pages
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN pages
       ON  pages.letter_id = held.id;
GO

-- sql/purge_failed_delete_pages.sql
-- purge_failed: deletes rows from pages for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of pages one that begins with letter_id
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Purge */ letters_purge_failed_delete_pages @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_purge_failed
    @jobs nvarchar(max)
AS
SET NOCOUNT ON;
DELETE /* storedq.Purge */ letters
OUTPUT deleted.id
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'error';
GO

-- sql/purge_failed.sql
-- purge_failed: failed to gone, of the rows that purge_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Purge */ letters_purge_failed @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_enqueue
    @address nvarchar(4000)
AS
SET NOCOUNT ON;
INSERT /* storedq.Enqueue */ INTO letters
       (address)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @address));
GO

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
EXEC /* storedq.Enqueue */ letters_enqueue @address = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_enqueue_many
    @jobs nvarchar(max)
AS
SET /* storedq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO letters
       (address)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), address_new)
FROM   OPENJSON(@jobs) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           address_new nvarchar(4000) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;
GO

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Address
EXEC /* storedq.EnqueueMany */ letters_enqueue_many @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_enqueue_insert_pages
    @jobs nvarchar(max)
AS
INSERT /* storedq.Enqueue */ INTO pages
       (letter_id, place)
SELECT held.id, 1
FROM   OPENJSON(@jobs) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held;
GO

-- sql/enqueue_insert_pages.sql
-- enqueue: inserts rows into pages for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
EXEC /* storedq.Enqueue */ letters_enqueue_insert_pages @jobs = @p1;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_stats
AS
SELECT /* storedq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'error' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND lease_till <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   letters;
GO

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
EXEC /* storedq.Stats */ letters_stats;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_backlog
AS
SELECT /* storedq.Backlog */
       count(*) AS ready
FROM   letters
WHERE  state = 'new';
GO

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
EXEC /* storedq.Backlog */ letters_backlog;

SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE OR ALTER PROCEDURE letters_peek
    @limit int
AS
SET NOCOUNT ON;
SELECT /* storedq.Peek */ TOP (@limit)
       id, address, cause
FROM   letters WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY id;
GO

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
EXEC /* storedq.Peek */ letters_peek @limit = @p1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* storedq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* storedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'varchar'),
                  ('lease_till', 'datetime2'),
                  ('ended', 'datetime2'),
                  ('address', 'varchar'),
                  ('cause', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'letters'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of pages
-- locks: none
SELECT /* storedq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('letter_id', 'bigint'),
                  ('place', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'pages'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_procedures.sql
-- verify: procedures
-- locks: none
SELECT /* storedq.Verify */
       'procedure ' + want.name + ' is missing'
FROM   (
           VALUES ('letters_claim'),
                  ('letters_complete'),
                  ('letters_fail'),
                  ('letters_requeue'),
                  ('letters_extend'),
                  ('letters_recover'),
                  ('letters_redrive'),
                  ('letters_purge_done_lock'),
                  ('letters_purge_done_delete_pages'),
                  ('letters_purge_done'),
                  ('letters_purge_failed_lock'),
                  ('letters_purge_failed_delete_pages'),
                  ('letters_purge_failed'),
                  ('letters_enqueue'),
                  ('letters_enqueue_many'),
                  ('letters_enqueue_insert_pages'),
                  ('letters_stats'),
                  ('letters_backlog'),
                  ('letters_peek')
       ) AS want (name)
WHERE  OBJECT_ID(want.name, 'P') IS NULL;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* storedq.Verify */
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
WHERE  have.object_id = OBJECT_ID('letters')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('letters')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* storedq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('letters_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('letters')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
-- lettersq advises the same
CREATE INDEX letters_ready ON letters (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
