-- Package expireq uses the table blocks as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates blocks_expire_ready.
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
-- note: no order is said: rows are taken in the order of the key, id

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE status IN (0, 3)
-- isolation: read committed
-- arguments: 1: limit
WITH /* expireq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, node, status, began
    FROM   blocks WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  status IN (0, 3)
    ORDER  BY id
)
UPDATE picked
SET    status = 6
OUTPUT inserted.id, inserted.node, CONVERT(varchar(33), inserted.began, 126);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Node, 3: new Began
INSERT /* expireq.Enqueue */ INTO blocks
       (id, node, began)
OUTPUT inserted.id
VALUES (@p1, @p2, CONVERT(datetimeoffset, @p3, 126));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* expireq.Stats */
       count(CASE WHEN status IN (0, 3) THEN 1 END) AS ready,
       count(CASE WHEN status = 6 THEN 1 END) AS done
FROM   blocks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE status IN (0, 3)
SELECT /* expireq.Backlog */
       count(*) AS ready
FROM   blocks
WHERE  status IN (0, 3);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status IN (0, 3)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* expireq.Peek */ TOP (@p1)
       id, node, CONVERT(varchar(33), began, 126)
FROM   blocks WITH (READPAST, READCOMMITTEDLOCK)
WHERE  status IN (0, 3)
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* expireq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* expireq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('node', 'int'),
                  ('status', 'int'),
                  ('began', 'datetimeoffset')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'blocks'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* expireq.Verify */
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
WHERE  have.object_id = OBJECT_ID('blocks')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('blocks')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* expireq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('blocks_expire_ready', 'id', 'id', 'statusin0,3')
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
           WHERE  have.object_id = OBJECT_ID('blocks')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX blocks_expire_ready ON blocks (id)
WHERE  status IN (0, 3);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
-- It has a predicate: while it stands, every INSERT, UPDATE and DELETE of the table fails with error 1934 in a
-- session or a procedure whose QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT or
-- CONCAT_NULL_YIELDS_NULL is OFF, or NUMERIC_ROUNDABORT ON. sqlcmd without -I and the jobs of SQL Server Agent
-- have QUOTED_IDENTIFIER OFF, and a procedure keeps that and ANSI_NULLS as they were when it was created.
