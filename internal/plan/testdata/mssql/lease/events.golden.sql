-- Package eventsq uses the table events as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table events_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQL Server has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: column "wedge_reason" gets the error of a job that fails for good alone, since a row with one is not ready
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running, by a row of events_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token, 3: worker Worker
MERGE /* eventsq.Claim */ INTO events_lease
USING (
          SELECT TOP (@p1)
                 id
          FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
          WHERE  wedge_reason IS NULL
          AND    NOT EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= SYSUTCDATETIME() AND events_lease.attempts < 5))
          ORDER  BY id
      ) AS picked
ON    events_lease.id = picked.id
WHEN  MATCHED AND events_lease.failed_at IS NULL
      AND events_lease.claimed_until <= SYSUTCDATETIME()
      AND events_lease.attempts < 5 THEN
      UPDATE SET token = @p2,
                 worker = @p3,
                 claimed_until = DATEADD(minute, 2, SYSUTCDATETIME()),
                 attempts = events_lease.attempts + 1
WHEN  NOT MATCHED THEN
      INSERT (id, token, worker, claimed_until, attempts)
      VALUES (picked.id, @p2, @p3, DATEADD(minute, 2, SYSUTCDATETIME()), 1)
OUTPUT inserted.id
OPTION (LOOP JOIN);

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of events_lease, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* eventsq.Claim */
       events.id, events.content, events_lease.token,
       CONVERT(varchar(27), events_lease.claimed_until, 126), events_lease.attempts,
       events_lease.error
FROM   events_lease, events WITH (READPAST, READCOMMITTEDLOCK)
WHERE  events_lease.token = @p1
AND    events_lease.id = events.id
AND    events.wedge_reason IS NULL;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* eventsq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* eventsq.Complete */ events_lease
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN events_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL));

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* eventsq.Complete */ events
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  wedge_reason IS NULL;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch_all ID Token
UPDATE /* eventsq.Fail */ events_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       error = @p2
OUTPUT inserted.id
FROM   OPENJSON(@p3) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN events_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL));

-- sql/fail_before.sql
-- fail: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* eventsq.Fail */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* eventsq.Fail */ events_lease
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN events_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL));

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID
UPDATE /* eventsq.Fail */ events
SET    wedge_reason = CONVERT(varbinary(max), @p1)
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN events WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  wedge_reason IS NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* eventsq.Requeue */ events_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       attempts = attempts - 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN events_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL));

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* eventsq.Extend */ events_lease
SET    claimed_until = DATEADD(minute, 2, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.claimed_until, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN events_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: events_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, token, worker
    FROM   events_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  failed_at IS NULL
    AND    token IS NOT NULL
    AND    attempts < 5
    AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL))
    AND    claimed_until <= SYSUTCDATETIME()
)
UPDATE picked
SET    token = NULL,
       worker = NULL
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (wedge_reason, id); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, wedge_reason
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  wedge_reason IS NULL
    AND    (EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND events_lease.claimed_until <= SYSUTCDATETIME() AND events_lease.attempts >= 5))
)
UPDATE picked
SET    wedge_reason = CONVERT(varbinary(max), 'the claim ran out')
OUTPUT inserted.id;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: events_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Recover */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   events_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (NOT EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL))
    AND    claimed_until <= SYSUTCDATETIME()
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, wedge_reason
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  wedge_reason IS NOT NULL
)
UPDATE picked
SET    wedge_reason = NULL
OUTPUT inserted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   events WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  wedge_reason IS NOT NULL
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Content
INSERT /* eventsq.Enqueue */ INTO events
       (content)
OUTPUT inserted.id
VALUES (@p1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Content
SET /* eventsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO events
       (content)
OUTPUT inserted.id
INTO   @kept
SELECT content_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           content_new nvarchar(max) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(CASE WHEN events.wedge_reason IS NULL AND (events_lease.id IS NULL OR events_lease.failed_at IS NULL AND events_lease.claimed_until <= SYSUTCDATETIME() AND events_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN events.wedge_reason IS NULL AND events_lease.failed_at IS NULL AND events_lease.token IS NOT NULL AND events_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN events.wedge_reason IS NULL AND events_lease.token IS NULL AND events_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN events.wedge_reason IS NULL AND events_lease.failed_at IS NULL AND events_lease.token IS NOT NULL AND events_lease.claimed_until <= SYSUTCDATETIME() THEN 1 END) AS expired,
       count(CASE WHEN events.wedge_reason IS NOT NULL THEN 1 END) AS failed
FROM   events LEFT JOIN events_lease ON events_lease.id = events.id;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (wedge_reason, id)
SELECT /* eventsq.Backlog */
       count(CASE WHEN (events_lease.id IS NULL OR events_lease.failed_at IS NULL AND events_lease.claimed_until <= SYSUTCDATETIME() AND events_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN events_lease.token IS NULL AND events_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed
FROM   events LEFT JOIN events_lease ON events_lease.id = events.id
WHERE  events.wedge_reason IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (wedge_reason, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */ TOP (@p1)
       id, content
FROM   events WITH (READPAST, READCOMMITTEDLOCK)
WHERE  wedge_reason IS NULL
AND    NOT EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= SYSUTCDATETIME() AND events_lease.attempts < 5))
ORDER  BY id;

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
                  ('content', 'nvarchar'),
                  ('wedge_reason', 'varbinary')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'events'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_lease.sql
-- verify: columns of events_lease
-- locks: none
SELECT /* eventsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('token', 'char'),
                  ('worker', 'nvarchar'),
                  ('claimed_until', 'datetime2'),
                  ('attempts', 'int'),
                  ('error', 'nvarchar'),
                  ('failed_at', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'events_lease'
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
WHERE  have.object_id = OBJECT_ID('events')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('events')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('events_ready', 'wedge_reason, id', 'wedge_reason', '')
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
           WHERE  have.object_id = OBJECT_ID('events')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX events_ready ON events (wedge_reason, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
