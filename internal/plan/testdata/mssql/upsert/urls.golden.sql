-- Package urlsq uses the table urls as a queue of jobs on SQL Server 2019 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates urls_ready.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in url, mail (unique index urls_waiting, of rows where state = 'new'): priority = (CASE WHEN priority < {new}.priority THEN {new}.priority ELSE priority END), asked = asked + 1, body = {body} unless nil, note = {note}
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in url, mail (unique index urls_waiting, of rows where state = 'new'): Fail or Requeue fails then, for all rows of the call, until one of the two is gone; a predicate that holds of running rows as well keeps such a row from being added

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* urlsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, url, mail, state, priority, body, note
    FROM   urls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY priority DESC, id
)
UPDATE picked
SET    state = 'busy'
OUTPUT inserted.id, inserted.url, inserted.mail, inserted.priority, inserted.body,
       inserted.note;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* urlsq.Complete */ urls
SET    state = 'done'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN urls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy';

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* urlsq.Fail */ urls
SET    state = 'new'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN urls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* urlsq.Requeue */ urls
SET    state = 'new'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN urls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* urlsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   urls WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'done'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in url, mail (unique index urls_waiting, of rows where state = 'new')
-- locks: the row, until commit; waits for who has it locked
-- index: url, mail
-- isolation: read committed
-- arguments: 1: new URL, 2: new Mail
SELECT /* urlsq.Enqueue */
       id
FROM   urls WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
WHERE  url = CONVERT(varchar(8000), @p1)
AND    (mail = @p2 OR mail IS NULL AND @p2 IS NULL)
AND    (state = 'new');

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: url, mail
-- isolation: read committed
-- arguments: 1: new Priority, 2: new Body, 3: new Note, 4: new URL, 5: new Mail
UPDATE /* urlsq.Enqueue */ urls
SET    priority = (CASE WHEN priority < coalesce(@p1, 0) THEN coalesce(@p1, 0) ELSE priority END),
       asked = asked + 1,
       body = coalesce(@p2, body),
       note = @p3
WHERE  url = CONVERT(varchar(8000), @p4)
AND    (mail = @p5 OR mail IS NULL AND @p5 IS NULL)
AND    (state = 'new');

-- sql/enqueue.sql
-- enqueue: a new ready row, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new URL, 2: new Mail, 3: new Priority, 4: new Body, 5: new Note
INSERT /* urlsq.Enqueue */ INTO urls
       (url, mail, priority, body, note)
OUTPUT inserted.id
VALUES (CONVERT(varchar(8000), @p1), @p2, coalesce(@p3, 0), @p4, @p5);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* urlsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done
FROM   urls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: urls_waiting (url, mail) WHERE state = 'new'
SELECT /* urlsq.Backlog */
       count(*) AS ready
FROM   urls
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* urlsq.Peek */ TOP (@p1)
       id, url, mail, priority, body, note
FROM   urls WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY priority DESC, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* urlsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* urlsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('url', 'varchar'),
                  ('mail', 'nvarchar'),
                  ('state', 'varchar'),
                  ('priority', 'int'),
                  ('asked', 'int'),
                  ('body', 'nvarchar'),
                  ('note', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'urls'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* urlsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('urls')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('urls')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* urlsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('urls_ready', 'state, priority desc, id', 'state, priority desc', '')
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
           WHERE  have.object_id = OBJECT_ID('urls')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX urls_ready ON urls (state, priority DESC, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
