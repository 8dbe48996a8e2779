-- Package buildsq uses the table builds as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Of the jobs that are alike in repo, one runs at once; a claim locks the running rows of each group as it counts them, and the gap where another would appear. A claim can come back with fewer jobs than are ready, and with none while others are: where another claims from a group at that moment it waits for that, leaves out the jobs of groups that are full then, and looks for no others in their place.
--
-- It sorts the ready rows, which locks all of them until it commits, and passes over rows that others hold: another claim finds none meanwhile. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates builds_ready and builds_line.
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
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     SQL Server has no locks on numbers
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for repo has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows of groups that are not full, which claim.sql then takes
-- locks: all ready rows, which are sorted first, until commit; passes over rows that are locked
-- index: (state); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* buildsq.Claim */ TOP (@p1)
       id
FROM   builds WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'new'
AND    NOT EXISTS (SELECT 1
               FROM   builds AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.repo = builds.repo
               AND    other.state = 'busy')
AND    NOT EXISTS (SELECT 1
               FROM   builds AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.repo = builds.repo
               AND    other.state = 'new'
               AND    ((CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) < (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) OR (CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) = (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) AND (((other.weight - other.used) > (builds.weight - builds.used) OR (builds.weight - builds.used) IS NULL AND (other.weight - other.used) IS NOT NULL) OR ((other.weight - other.used) = (builds.weight - builds.used) OR (other.weight - other.used) IS NULL AND (builds.weight - builds.used) IS NULL) AND other.id < builds.id)))
ORDER  BY (CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC, id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* buildsq.Claim */ builds
SET    state = 'busy'
OUTPUT inserted.id, inserted.repo, inserted.kind, inserted.weight, inserted.used
FROM   OPENJSON(@p1) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN builds WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked
WHERE  (SELECT count(*)
               FROM   builds AS other WITH (UPDLOCK, HOLDLOCK)
               WHERE  other.repo = builds.repo
               AND    other.state = 'busy') = 0;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* buildsq.Complete */ builds
SET    state = 'over'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN builds WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy';

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* buildsq.Fail */ builds
SET    state = 'dead'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN builds WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* buildsq.Requeue */ builds
SET    state = 'new'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN builds WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state)
-- isolation: read committed
-- arguments: 1: limit
WITH /* buildsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state
    FROM   builds WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
)
UPDATE picked
SET    state = 'new'
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state)
-- isolation: read committed
-- arguments: 1: limit
WITH /* buildsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   builds WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'over'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state)
-- isolation: read committed
-- arguments: 1: limit
WITH /* buildsq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   builds WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Repo, 2: new Kind, 3: new Weight, 4: new Used
INSERT /* buildsq.Enqueue */ INTO builds
       (repo, kind, weight, used)
OUTPUT inserted.id
VALUES (@p1, @p2, @p3, @p4);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Repo Kind Weight Used
SET /* buildsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO builds
       (repo, kind, weight, used)
OUTPUT inserted.id
INTO   @kept
SELECT repo_new, kind_new, weight_new, used_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           repo_new nvarchar(4000) '$[0]',
           kind_new int '$[1]',
           weight_new int '$[2]',
           used_new int '$[3]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'over' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed
FROM   builds;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state)
SELECT /* buildsq.Backlog */
       count(*) AS ready
FROM   builds
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* buildsq.Peek */ TOP (@p1)
       id, repo, kind, weight, used
FROM   builds WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
AND    NOT EXISTS (SELECT 1
               FROM   builds AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.repo = builds.repo
               AND    other.state = 'busy')
AND    NOT EXISTS (SELECT 1
               FROM   builds AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.repo = builds.repo
               AND    other.state = 'new'
               AND    ((CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) < (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) OR (CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) = (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) AND (((other.weight - other.used) > (builds.weight - builds.used) OR (builds.weight - builds.used) IS NULL AND (other.weight - other.used) IS NOT NULL) OR ((other.weight - other.used) = (builds.weight - builds.used) OR (other.weight - other.used) IS NULL AND (builds.weight - builds.used) IS NULL) AND other.id < builds.id)))
ORDER  BY (CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buildsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('repo', 'nvarchar'),
                  ('kind', 'int'),
                  ('weight', 'int'),
                  ('used', 'int'),
                  ('state', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'builds'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* buildsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('builds')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('builds')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buildsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('builds_ready', 'state', 'state', ''),
                  ('builds_line', 'repo, state', 'repo, state', '')
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
           WHERE  have.object_id = OBJECT_ID('builds')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows, which are then sorted: no index gives their order
CREATE INDEX builds_ready ON builds (state);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Claim: who is before a row in its group, and which of them run
CREATE INDEX builds_line ON builds (repo, state);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
