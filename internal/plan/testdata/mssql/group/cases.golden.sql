-- Package casesq uses the table cases as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Of the jobs that are alike in case_id, one runs at once; a claim locks the running rows of each group as it counts them, and the gap where another would appear. A claim can come back with fewer jobs than are ready, and with none while others are: where another claims from a group at that moment it waits for that, leaves out the jobs of groups that are full then, and looks for no others in their place.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates cases_group and cases_line.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for case_id has it read rows of one group alone

-- sql/claim_lock.sql
-- claim: locks ready rows of groups that are not full, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* casesq.Claim */ TOP (@p1)
       id
FROM   cases WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  (until_at <= SYSDATETIMEOFFSET() OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (NOT EXISTS (SELECT 1
               FROM   cases AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > SYSDATETIMEOFFSET())
           AND NOT EXISTS (SELECT 1
               FROM   cases AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    (other.until_at <= SYSDATETIMEOFFSET() OR other.until_at IS NULL)
               AND    other.id < cases.id)))
ORDER  BY id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker OwnerName, 2: batch_all ID
UPDATE /* casesq.Claim */ cases
SET    until_at = DATEADD(minute, 5, SYSDATETIMEOFFSET()),
       owner_name = @p1,
       rev = rev + 1
OUTPUT inserted.id, inserted.case_id, inserted.alone,
       CONVERT(varchar(33), inserted.until_at, 126), inserted.rev
FROM   OPENJSON(@p2) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN cases WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked
WHERE  (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (SELECT count(*)
               FROM   cases AS other WITH (UPDLOCK, HOLDLOCK)
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > SYSDATETIMEOFFSET()) = 0);

-- sql/complete.sql
-- complete: running to done
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Rev
DELETE /* casesq.Complete */ cases
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           rev_held int '$[1]'
       ) AS job
       INNER LOOP JOIN cases WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  rev = rev_held
AND    until_at IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Rev
UPDATE /* casesq.Fail */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           rev_held int '$[1]'
       ) AS job
       INNER LOOP JOIN cases WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  rev = rev_held
AND    until_at IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Rev
UPDATE /* casesq.Requeue */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           rev_held int '$[1]'
       ) AS job
       INNER LOOP JOIN cases WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  rev = rev_held
AND    until_at IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Rev
UPDATE /* casesq.Extend */ cases
SET    until_at = DATEADD(minute, 5, SYSDATETIMEOFFSET()),
       rev = rev + 1
OUTPUT inserted.id, CONVERT(varchar(33), inserted.until_at, 126), inserted.rev
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           rev_held int '$[1]'
       ) AS job
       INNER LOOP JOIN cases WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  rev = rev_held
AND    until_at IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new CaseID, 2: new Alone
INSERT /* casesq.Enqueue */ INTO cases
       (case_id, alone)
OUTPUT inserted.id
VALUES (@p1, @p2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all CaseID Alone
SET /* casesq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO cases
       (case_id, alone)
OUTPUT inserted.id
INTO   @kept
SELECT case_id_new, alone_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           case_id_new int '$[0]',
           alone_new int '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* casesq.Stats */
       count(CASE WHEN (until_at <= SYSDATETIMEOFFSET() OR until_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN until_at IS NOT NULL AND until_at > SYSDATETIMEOFFSET() THEN 1 END) AS running,
       count(CASE WHEN until_at IS NOT NULL AND until_at <= SYSDATETIMEOFFSET() THEN 1 END) AS expired
FROM   cases;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* casesq.Peek */ TOP (@p1)
       id, case_id, alone, rev
FROM   cases WITH (READPAST, READCOMMITTEDLOCK)
WHERE  (until_at <= SYSDATETIMEOFFSET() OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (NOT EXISTS (SELECT 1
               FROM   cases AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > SYSDATETIMEOFFSET())
           AND NOT EXISTS (SELECT 1
               FROM   cases AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    (other.until_at <= SYSDATETIMEOFFSET() OR other.until_at IS NULL)
               AND    other.id < cases.id)))
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* casesq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* casesq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('case_id', 'int'),
                  ('alone', 'int'),
                  ('until_at', 'datetimeoffset'),
                  ('owner_name', 'nvarchar'),
                  ('rev', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'cases'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* casesq.Verify */
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
WHERE  have.object_id = OBJECT_ID('cases')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('cases')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* casesq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__cases', 'id', 'id', ''),
                  ('cases_group', 'case_id, until_at', 'case_id, until_at', ''),
                  ('cases_line', 'case_id, id', 'case_id', '')
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
           WHERE  have.object_id = OBJECT_ID('cases')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PK__cases serves already

-- serves Claim: the running rows of a group
CREATE INDEX cases_group ON cases (case_id, until_at, alone);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).

-- serves Claim: who is before a row in its group
CREATE INDEX cases_line ON cases (case_id, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
