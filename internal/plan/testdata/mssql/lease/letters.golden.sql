-- Package lettersq uses the table letters as a queue of jobs on SQL Server 2019 and later.
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
-- Claims are rows of the table letters_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running, by a row of letters_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (kind, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind string, 3: token Token, 4: worker Worker
MERGE /* lettersq.Claim */ INTO letters_lease
USING (
          SELECT TOP (@p1)
                 id
          FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
          WHERE  kind = CONVERT(varchar(8000), @p2)
          AND    NOT EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() AND letters_lease.attempts < 5))
          ORDER  BY id
      ) AS picked
ON    letters_lease.id = picked.id
WHEN  MATCHED AND letters_lease.failed_at IS NULL
      AND letters_lease.claimed_until <= SYSUTCDATETIME()
      AND letters_lease.attempts < 5 THEN
      UPDATE SET token = @p3,
                 worker = @p4,
                 claimed_until = DATEADD(minute, 5, SYSUTCDATETIME()),
                 attempts = letters_lease.attempts + 1
WHEN  NOT MATCHED THEN
      INSERT (id, token, worker, claimed_until, attempts)
      VALUES (picked.id, @p3, @p4, DATEADD(minute, 5, SYSUTCDATETIME()), 1)
OUTPUT inserted.id
OPTION (LOOP JOIN);

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of letters_lease, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* lettersq.Claim */
       letters.id, letters.kind, letters.priority, letters.body, letters_lease.token,
       CONVERT(varchar(27), letters_lease.claimed_until, 126), letters_lease.attempts,
       letters_lease.error
FROM   letters_lease, letters WITH (READPAST, READCOMMITTEDLOCK)
WHERE  letters_lease.token = @p1
AND    letters_lease.id = letters.id;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* lettersq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* lettersq.Complete */ letters_lease
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN letters_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id));

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* lettersq.Complete */ letters
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch_all ID Token
UPDATE /* lettersq.Fail */ letters_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       error = @p2
OUTPUT inserted.id
FROM   OPENJSON(@p3) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN letters_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id));

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID Token
UPDATE /* lettersq.Fail */ letters_lease
SET    token = NULL,
       worker = NULL,
       error = @p1,
       failed_at = SYSUTCDATETIME()
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN letters_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* lettersq.Requeue */ letters_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       attempts = attempts - 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN letters_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id));

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* lettersq.Extend */ letters_lease
SET    claimed_until = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.claimed_until, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN letters_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* lettersq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, token, worker
    FROM   letters_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  failed_at IS NULL
    AND    token IS NOT NULL
    AND    attempts < 5
    AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
    AND    claimed_until <= SYSUTCDATETIME()
)
UPDATE picked
SET    token = NULL,
       worker = NULL
OUTPUT inserted.id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* lettersq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, token, worker, error, failed_at
    FROM   letters_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  failed_at IS NULL
    AND    attempts >= 5
    AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
    AND    claimed_until <= SYSUTCDATETIME()
)
UPDATE picked
SET    token = NULL,
       worker = NULL,
       error = 'the claim ran out',
       failed_at = SYSUTCDATETIME()
OUTPUT inserted.id;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* lettersq.Recover */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   letters_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (NOT EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
    AND    claimed_until <= SYSUTCDATETIME()
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* lettersq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   letters_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  failed_at IS NOT NULL
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* lettersq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND letters_lease.failed_at IS NOT NULL AND letters_lease.failed_at <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME())))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_left.sql
-- purge_left: the claims of the rows that purge_failed.sql deleted, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* lettersq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   letters_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  failed_at IS NOT NULL
    AND    failed_at <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
    AND    (NOT EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new Body
INSERT /* lettersq.Enqueue */ INTO letters
       (kind, priority, body)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @p1), @p2, @p3);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Kind Priority Body
SET /* lettersq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO letters
       (kind, priority, body)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), kind_new), priority_new, body_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           kind_new nvarchar(4000) '$[0]',
           priority_new int '$[1]',
           body_new nvarchar(max) '$[2]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() AND letters_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() THEN 1 END) AS expired,
       count(CASE WHEN letters_lease.failed_at IS NOT NULL THEN 1 END) AS failed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: (kind, id)
-- arguments: 1: param kind string
SELECT /* lettersq.StatsOf */
       count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() AND letters_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() THEN 1 END) AS expired,
       count(CASE WHEN letters_lease.failed_at IS NOT NULL THEN 1 END) AS failed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id
WHERE  letters.kind = CONVERT(varchar(8000), @p1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Backlog */
       letters.kind,
       count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() AND letters_lease.attempts < 5) THEN 1 END) AS ready,
       count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id
GROUP  BY letters.kind
HAVING count(CASE WHEN (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() AND letters_lease.attempts < 5) THEN 1 END) > 0
OR     count(CASE WHEN letters_lease.token IS NULL AND letters_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) > 0
ORDER  BY letters.kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param kind string
SELECT /* lettersq.Peek */ TOP (@p1)
       id, kind, priority, body
FROM   letters WITH (READPAST, READCOMMITTEDLOCK)
WHERE  kind = CONVERT(varchar(8000), @p2)
AND    NOT EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= SYSUTCDATETIME() AND letters_lease.attempts < 5))
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('kind', 'varchar'),
                  ('priority', 'int'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'letters'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_lease.sql
-- verify: columns of letters_lease
-- locks: none
SELECT /* lettersq.Verify */
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
       AND have.TABLE_NAME = 'letters_lease'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* lettersq.Verify */
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
SELECT /* lettersq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('letters_ready', 'kind, id', 'kind', '')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX letters_ready ON letters (kind, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
