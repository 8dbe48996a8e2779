-- Package mailsq uses the table mails as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Later-----------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
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
-- note: on retry, column "run_at" gets [DATEADD(minute, {arg:minutes}, {now})] as qgen:on says, not now + {delay} as qgen:due would
-- note: on renew, column "till" gets now + 15m as qgen:on says, not now + 5m as qgen:lease would
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit, 2: given cost int
WITH /* mailsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, state, run_at, till, tries, fails
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 0
    AND    (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL)
    ORDER  BY id
)
UPDATE picked
SET    state = 1,
       till = DATEADD(minute, 5, SYSDATETIMEOFFSET()),
       tries = (tries + @p2)
OUTPUT inserted.id, CONVERT(varchar(33), inserted.run_at, 126),
       CONVERT(varchar(33), inserted.till, 126), inserted.fails;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till Cost More
UPDATE /* mailsq.Complete */ mails
SET    state = 2,
       till = NULL,
       tries = (tries + cost_held),
       note = (note + more_held)
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(33) '$[1]',
           cost_held bigint '$[2]',
           more_held nvarchar(max) '$[3]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetimeoffset, till_held, 126)
AND    state = 1;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given minutes int, 2: batch_all ID Till
UPDATE /* mailsq.Fail */ mails
SET    state = 0,
       run_at = (DATEADD(minute, @p1, SYSDATETIMEOFFSET())),
       till = NULL,
       tries = (tries + @p1),
       fails = fails + 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           till_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetimeoffset, till_held, 126)
AND    state = 1;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Fail */ mails
SET    state = 3,
       till = NULL,
       fails = fails + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetimeoffset, till_held, 126)
AND    state = 1;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* mailsq.Requeue */ mails
SET    state = 0,
       run_at = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())) ELSE run_at END,
       till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           till_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetimeoffset, till_held, 126)
AND    state = 1;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Extend */ mails
SET    till = DATEADD(minute, 15, SYSDATETIMEOFFSET())
OUTPUT inserted.id, CONVERT(varchar(33), inserted.till, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetimeoffset, till_held, 126)
AND    state = 1;

-- sql/outcome_later.sql
-- outcome_later: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given delay time.Duration, 2: given cost int, 3: batch_all ID Till
UPDATE /* mailsq.Later */ mails
SET    state = 0,
       run_at = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())),
       till = NULL,
       tries = (tries + @p2)
OUTPUT inserted.id
FROM   OPENJSON(@p3) WITH (
           id_held bigint '$[0]',
           till_held varchar(33) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetimeoffset, till_held, 126)
AND    state = 1;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* mailsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, till, fails
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 1
    AND    fails < 2
    AND    till <= SYSDATETIMEOFFSET()
)
UPDATE picked
SET    state = 0,
       till = NULL,
       fails = fails + 1
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* mailsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, till, fails
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 1
    AND    fails >= 2
    AND    till <= SYSDATETIMEOFFSET()
)
UPDATE picked
SET    state = 3,
       till = NULL,
       fails = fails + 1
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit, 2: given first int64
WITH /* mailsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, till, fails, step
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 3
)
UPDATE picked
SET    state = 0,
       till = NULL,
       fails = 0,
       step = (step + @p2)
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* mailsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 2
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit
WITH /* mailsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 3
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Delay, 2: new First
INSERT /* mailsq.Enqueue */ INTO mails
       (run_at, step)
OUTPUT inserted.id
VALUES (DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())),
        (@p2 * @p2));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Delay First
SET /* mailsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO mails
       (run_at, step)
OUTPUT inserted.id
INTO   @kept
SELECT DATEADD(millisecond, (delay_new - FLOOR(delay_new)) * 1000, DATEADD(second, FLOOR(delay_new), SYSDATETIMEOFFSET())),
       (first_new * first_new)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           delay_new float '$[0]',
           first_new bigint '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN state = 0 AND (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = 3 THEN 1 END) AS failed,
       count(CASE WHEN state = 0 AND run_at > SYSDATETIMEOFFSET() THEN 1 END) AS delayed,
       count(CASE WHEN state = 1 AND till <= SYSDATETIMEOFFSET() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 0 AND (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL) THEN run_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id, run_at)
SELECT /* mailsq.Backlog */
       count(CASE WHEN (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN run_at > SYSDATETIMEOFFSET() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(CASE WHEN (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL) THEN run_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   mails
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id, run_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */ TOP (@p1)
       id, CONVERT(varchar(33), run_at, 126), fails
FROM   mails WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 0
AND    (run_at <= SYSDATETIMEOFFSET() OR run_at IS NULL)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'int'),
                  ('run_at', 'datetimeoffset'),
                  ('till', 'datetimeoffset'),
                  ('tries', 'int'),
                  ('note', 'nvarchar'),
                  ('fails', 'int'),
                  ('step', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'mails'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mailsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('mails')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('mails')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('mails_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('mails')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX mails_ready ON mails (state, id, run_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
