-- Package notesq uses the table notes as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Besides the queue's own rows it writes journal (Enqueue), each in the transaction of the operation.
--
-- Claims are rows of the table notes_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
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
-- claim: ready to running, by a row of notes_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token, 3: worker Worker
MERGE /* notesq.Claim */ INTO notes_lease
USING (
          SELECT TOP (@p1)
                 id
          FROM   notes WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
          WHERE  NOT EXISTS (SELECT 1 FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= SYSUTCDATETIME()))
          ORDER  BY id
      ) AS picked
ON    notes_lease.id = picked.id
WHEN  MATCHED AND notes_lease.failed_at IS NULL
      AND notes_lease.claimed_until <= SYSUTCDATETIME() THEN
      UPDATE SET token = @p2,
                 worker = @p3,
                 claimed_until = DATEADD(minute, 5, SYSUTCDATETIME()),
                 attempts = notes_lease.attempts + 1
WHEN  NOT MATCHED THEN
      INSERT (id, token, worker, claimed_until, attempts)
      VALUES (picked.id, @p2, @p3, DATEADD(minute, 5, SYSUTCDATETIME()), 1)
OUTPUT inserted.id
OPTION (LOOP JOIN);

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of notes_lease, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* notesq.Claim */
       notes.id, notes.address, notes_lease.token,
       CONVERT(varchar(27), notes_lease.claimed_until, 126), notes_lease.attempts,
       notes_lease.error
FROM   notes_lease, notes WITH (READPAST, READCOMMITTEDLOCK)
WHERE  notes_lease.token = @p1
AND    notes_lease.id = notes.id;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* notesq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN notes WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* notesq.Complete */ notes_lease
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN notes_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id));

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* notesq.Complete */ notes
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN notes WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch_all ID Token
UPDATE /* notesq.Fail */ notes_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       error = @p2
OUTPUT inserted.id
FROM   OPENJSON(@p3) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN notes_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* notesq.Requeue */ notes_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       attempts = attempts - 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN notes_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id));

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* notesq.Extend */ notes_lease
SET    claimed_until = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.claimed_until, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN notes_lease WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: notes_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* notesq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, token, worker
    FROM   notes_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  failed_at IS NULL
    AND    token IS NOT NULL
    AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id))
    AND    claimed_until <= SYSUTCDATETIME()
)
UPDATE picked
SET    token = NULL,
       worker = NULL
OUTPUT inserted.id;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: notes_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* notesq.Recover */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   notes_lease WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (NOT EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id))
    AND    claimed_until <= SYSUTCDATETIME()
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
INSERT /* notesq.Enqueue */ INTO notes
       (address)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @p1));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Address
SET /* notesq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO notes
       (address)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), address_new)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           address_new nvarchar(4000) '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* notesq.Enqueue */ INTO journal
       (what, id, address)
SELECT 'note', held.id, held.address
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN notes AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Stats */
       count(CASE WHEN (notes_lease.id IS NULL OR notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= SYSUTCDATETIME()) THEN 1 END) AS ready,
       count(CASE WHEN notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN notes_lease.token IS NULL AND notes_lease.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until <= SYSUTCDATETIME() THEN 1 END) AS expired
FROM   notes LEFT JOIN notes_lease ON notes_lease.id = notes.id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* notesq.Peek */ TOP (@p1)
       id, address
FROM   notes WITH (READPAST, READCOMMITTEDLOCK)
WHERE  NOT EXISTS (SELECT 1 FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= SYSUTCDATETIME()))
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* notesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('address', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'notes'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* notesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('what', 'varchar'),
                  ('id', 'bigint'),
                  ('address', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'journal'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_lease.sql
-- verify: columns of notes_lease
-- locks: none
SELECT /* notesq.Verify */
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
       AND have.TABLE_NAME = 'notes_lease'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* notesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('notes')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('notes')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* notesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__notes', 'id', 'id', '')
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
           WHERE  have.object_id = OBJECT_ID('notes')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PK__notes serves already
