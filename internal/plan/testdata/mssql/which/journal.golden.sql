-- Package journalq uses the table journal as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete); tags (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates journal_ready and journal_others.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (holder, id)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
WITH /* journalq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, ident, holder, weight
    FROM   journal WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  holder IS NULL
    ORDER  BY id
)
UPDATE picked
SET    holder = @p2
OUTPUT inserted.id, inserted.ident, inserted.holder, inserted.weight;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Holder
SELECT /* journalq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN journal WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    holder IS NOT NULL;

-- sql/complete_delete_journal.sql
-- complete: deletes rows from journal for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (ident)
-- isolation: read committed
-- arguments: 1: batch_all ID Holder
DELETE /* journalq.Complete */ journal
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN journal AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN journal
       ON  journal.ident = held.ident
       AND journal.holder IS NULL
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (id_held bigint '$[0]', holder_held nvarchar(4000) '$[1]') AS job WHERE journal.id = id_held)
WHERE  held.holder = CONVERT(varchar(8000), holder_held)
AND    (journal.id <= held.id);

-- sql/complete_update_tags.sql
-- complete: updates rows of tags for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of tags one that begins with ident
-- isolation: read committed
-- arguments: 1: batch_all ID Holder
UPDATE /* journalq.Complete */ tags
SET    seen = 1
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN journal AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tags
       ON  tags.ident = held.ident
WHERE  held.holder = CONVERT(varchar(8000), holder_held)
AND    (tags.lowest between 1 and held.weight);

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Holder
DELETE /* journalq.Complete */ journal
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN journal WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    holder IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Holder
UPDATE /* journalq.Fail */ journal
SET    holder = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN journal WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    holder IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Holder
UPDATE /* journalq.Requeue */ journal
SET    holder = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           holder_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN journal WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  holder = CONVERT(varchar(8000), holder_held)
AND    holder IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Ident, 2: new Weight
INSERT /* journalq.Enqueue */ INTO journal
       (ident, weight)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @p1), coalesce(@p2, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Ident Weight
SET /* journalq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO journal
       (ident, weight)
OUTPUT inserted.id
INTO   @kept
SELECT CONVERT(varchar(8000), ident_new), coalesce(weight_new, 0)
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           ident_new nvarchar(4000) '$[0]',
           weight_new int '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* journalq.Stats */
       count(CASE WHEN holder IS NULL THEN 1 END) AS ready,
       count(CASE WHEN holder IS NOT NULL THEN 1 END) AS running
FROM   journal;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (holder, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* journalq.Peek */ TOP (@p1)
       id, ident, weight
FROM   journal WITH (READPAST, READCOMMITTEDLOCK)
WHERE  holder IS NULL
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* journalq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* journalq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('ident', 'varchar'),
                  ('holder', 'varchar'),
                  ('weight', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'journal'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of tags
-- locks: none
SELECT /* journalq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('seen', 'int'),
                  ('ident', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'tags'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* journalq.Verify */
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
WHERE  have.object_id = OBJECT_ID('journal')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('journal')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* journalq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('journal_ready', 'holder, id', 'holder', ''),
                  ('journal_others', 'ident', 'ident', '')
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
           WHERE  have.object_id = OBJECT_ID('journal')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX journal_ready ON journal (holder, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- finds the rows of other jobs that a step writes
CREATE INDEX journal_others ON journal (ident);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
