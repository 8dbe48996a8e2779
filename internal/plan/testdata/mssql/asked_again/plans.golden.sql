-- Package plansq uses the table plans as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready or not, by what it writes to run_at
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- Besides the queue's own rows it writes plan_runs (Claim), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates plans_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* plansq.Claim */ TOP (@p1)
       id
FROM   plans WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  run_at <= SYSDATETIMEOFFSET()
AND    (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'))
ORDER  BY run_at, id;

-- sql/claim_again.sql
-- claim: those of the rows that are ready still, as claims before it have left other tables
-- locks: the rows it returns, which claim_lock.sql has locked
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* plansq.Claim */
       id
FROM   OPENJSON(@p1) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN plans WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked
WHERE  (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'));

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay; run_at tells whether they are ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* plansq.Claim */ plans
SET    run_at = (dateadd(second, -1, run_at))
OUTPUT inserted.id, inserted.name, CONVERT(varchar(33), inserted.run_at, 126)
FROM   OPENJSON(@p1) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN plans WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked;

-- sql/claim_insert_plan_runs.sql
-- claim: inserts rows into plan_runs for the rows that claim_lock.sql locked, before claim.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* plansq.Claim */ INTO plan_runs
       (plan_id, state)
SELECT held.id, 'running'
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN plans AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Name, 3: new RunAt
INSERT /* plansq.Enqueue */ INTO plans
       (id, name, run_at)
OUTPUT inserted.id
VALUES (@p1, CONVERT(varchar(8000), @p2),
        coalesce(CONVERT(datetimeoffset, @p3, 126), SYSDATETIMEOFFSET()));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* plansq.Stats */
       count(told.figure1) AS ready,
       count(CASE WHEN run_at > SYSDATETIMEOFFSET() THEN 1 END) AS delayed,
       DATEDIFF_BIG(millisecond, min(told.figure2), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   plans
CROSS  APPLY (
    SELECT CASE WHEN run_at <= SYSDATETIMEOFFSET() AND (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running')) THEN 1 END AS figure1,
           CASE WHEN run_at <= SYSDATETIMEOFFSET() AND (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running')) THEN run_at END AS figure2
) AS told;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* plansq.Peek */ TOP (@p1)
       id, name, CONVERT(varchar(33), run_at, 126)
FROM   plans WITH (READPAST, READCOMMITTEDLOCK)
WHERE  run_at <= SYSDATETIMEOFFSET()
AND    (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'))
ORDER  BY run_at, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* plansq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* plansq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('name', 'varchar'),
                  ('run_at', 'datetimeoffset')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'plans'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of plan_runs
-- locks: none
SELECT /* plansq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('plan_id', 'bigint'),
                  ('state', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'plan_runs'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* plansq.Verify */
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
WHERE  have.object_id = OBJECT_ID('plans')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('plans')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* plansq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('plans_ready', 'run_at, id', 'run_at', '')
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
           WHERE  have.object_id = OBJECT_ID('plans')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
CREATE INDEX plans_ready ON plans (run_at, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
