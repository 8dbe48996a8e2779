-- Package parcelsq uses the table parcels as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes journal (Enqueue, Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parcels_ready.
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
-- note: no order is said: rows are taken in the order of the key, depot, code
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, depot, code)
-- isolation: read committed
-- arguments: 1: limit
WITH /* parcelsq.Claim */ picked AS (
    SELECT TOP (@p1)
           depot, code, state
    FROM   parcels WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY depot, code
)
UPDATE picked
SET    state = 'busy'
OUTPUT inserted.depot, inserted.code;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Depot Code
UPDATE /* parcelsq.Complete */ parcels
SET    state = 'sent'
OUTPUT inserted.depot, inserted.code
FROM   OPENJSON(@p1) WITH (
           depot_held int '$[0]',
           code_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN parcels WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  depot = depot_held
       AND code = CONVERT(varchar(8000), code_held)
WHERE  state = 'busy';

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Depot Code
UPDATE /* parcelsq.Fail */ parcels
SET    state = 'new'
OUTPUT inserted.depot, inserted.code
FROM   OPENJSON(@p1) WITH (
           depot_held int '$[0]',
           code_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN parcels WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  depot = depot_held
       AND code = CONVERT(varchar(8000), code_held)
WHERE  state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Depot Code
UPDATE /* parcelsq.Requeue */ parcels
SET    state = 'new'
OUTPUT inserted.depot, inserted.code
FROM   OPENJSON(@p1) WITH (
           depot_held int '$[0]',
           code_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN parcels WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  depot = depot_held
       AND code = CONVERT(varchar(8000), code_held)
WHERE  state = 'busy';

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, depot, code)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* parcelsq.Purge */ TOP (@p1)
       depot, code
FROM   parcels WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'sent';

-- sql/purge_done_delete_journal.sql
-- purge_done: deletes rows from journal for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key; of journal one that begins with what, id
-- isolation: read committed
-- arguments: 1: batch_all Depot Code
DELETE /* parcelsq.Purge */ journal
FROM   OPENJSON(@p1) WITH (
           depot_held int '$[0]',
           code_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN parcels AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.depot = depot_held
       AND held.code = CONVERT(varchar(8000), code_held)
       INNER JOIN journal
       ON  journal.what = held.code
       AND journal.id = held.depot;

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Depot Code
DELETE /* parcelsq.Purge */ parcels
OUTPUT deleted.depot, deleted.code
FROM   OPENJSON(@p1) WITH (
           depot_held int '$[0]',
           code_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN parcels WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  depot = depot_held
       AND code = CONVERT(varchar(8000), code_held)
WHERE  state = 'sent';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Depot, 2: new Code
INSERT /* parcelsq.Enqueue */ INTO parcels
       (depot, code)
OUTPUT inserted.depot, inserted.code
VALUES (@p1, CONVERT(varchar(8000), @p2));

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Depot Code
INSERT /* parcelsq.Enqueue */ INTO journal
       (what, id, address)
SELECT held.code, held.depot, held.state
FROM   OPENJSON(@p1) WITH (
           depot_held int '$[0]',
           code_held nvarchar(4000) '$[1]'
       ) AS job
       INNER LOOP JOIN parcels AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.depot = depot_held
       AND held.code = CONVERT(varchar(8000), code_held);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* parcelsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done
FROM   parcels;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, depot, code)
SELECT /* parcelsq.Backlog */
       count(*) AS ready
FROM   parcels
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, depot, code)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* parcelsq.Peek */ TOP (@p1)
       depot, code
FROM   parcels WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY depot, code;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* parcelsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* parcelsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('depot', 'int'),
                  ('code', 'varchar'),
                  ('state', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'parcels'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* parcelsq.Verify */
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

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* parcelsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('parcels')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('parcels')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* parcelsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('parcels_ready', 'state, depot, code', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('parcels')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX parcels_ready ON parcels (state, depot, code);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
