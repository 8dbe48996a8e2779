-- Package waitsq uses the table waits as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates waits_ready and waits_others.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        SQL Server has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     SQL Server has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, site, no
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token
WITH /* waitsq.Claim */ picked AS (
    SELECT TOP (@p1)
           site, no, after, state, tries, token
    FROM   waits WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY site, no
)
UPDATE picked
SET    state = 'busy',
       token = @p2
OUTPUT inserted.site, inserted.no, inserted.after, inserted.tries,
       LOWER(CONVERT(char(36), inserted.token));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
SELECT /* waitsq.Complete */
       site, no
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/complete_update_waits.sql
-- complete: updates rows of waits for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (site, after)
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Complete */ waits
SET    state = 'new'
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.site = site_held
       AND held.no = no_held
       INNER JOIN waits
       ON  waits.site = held.site
       AND waits.after = held.no
       AND waits.state = 'waiting'
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (site_held nvarchar(4000) '$[0]', no_held int '$[1]', token_held nvarchar(36) '$[2]') AS job WHERE waits.site = site_held AND waits.no = no_held)
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
DELETE /* waitsq.Complete */ waits
OUTPUT deleted.site, deleted.no
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'new',
       tries = tries + 1,
       token = NULL
OUTPUT inserted.site, inserted.no
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
SELECT /* waitsq.Fail */
       site, no
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/fail_update_waits.sql
-- fail: updates rows of waits for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (site, after)
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'failed'
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.site = site_held
       AND held.no = no_held
       INNER JOIN waits
       ON  waits.site = held.site
       AND waits.after = held.no
       AND waits.state IN ('waiting', 'new')
       AND NOT EXISTS (SELECT 1 FROM OPENJSON(@p1) WITH (site_held nvarchar(4000) '$[0]', no_held int '$[1]', token_held nvarchar(36) '$[2]') AS job WHERE waits.site = site_held AND waits.no = no_held)
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'failed',
       tries = tries + 1
OUTPUT inserted.site, inserted.no
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Requeue */ waits
SET    state = 'new',
       token = NULL
OUTPUT inserted.site, inserted.no
FROM   OPENJSON(@p1) WITH (
           site_held nvarchar(4000) '$[0]',
           no_held int '$[1]',
           token_held nvarchar(36) '$[2]'
       ) AS job
       INNER LOOP JOIN waits WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  site = site_held
       AND no = no_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit
WITH /* waitsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           site, no, state, tries, token
    FROM   waits WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
UPDATE picked
SET    state = 'new',
       tries = 0,
       token = NULL
OUTPUT inserted.site, inserted.no;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit
WITH /* waitsq.Purge */ picked AS (
    SELECT TOP (@p1)
           site, no
    FROM   waits WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'failed'
)
DELETE FROM picked
OUTPUT deleted.site, deleted.no;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new No, 3: new After
INSERT /* waitsq.Enqueue */ INTO waits
       (site, no, after, state)
OUTPUT inserted.site, inserted.no
VALUES (@p1, @p2, @p3, 'new');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed
FROM   waits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, site, no)
SELECT /* waitsq.Backlog */
       count(*) AS ready
FROM   waits
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitsq.Peek */ TOP (@p1)
       site, no, after, tries
FROM   waits WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY site, no;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('site', 'nvarchar'),
                  ('no', 'int'),
                  ('after', 'int'),
                  ('state', 'nvarchar'),
                  ('tries', 'int'),
                  ('token', 'uniqueidentifier')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'waits'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* waitsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('waits')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('waits')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('waits_ready', 'state, site, no', 'state', ''),
                  ('waits_others', 'site, after', 'site, after', '')
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
           WHERE  have.object_id = OBJECT_ID('waits')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX waits_ready ON waits (state, site, no);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- finds the rows of other jobs that a step writes; PK__waits leads to these rows among others: where those are few, decline this one (indexes: {others: false})
CREATE INDEX waits_others ON waits (site, after);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
