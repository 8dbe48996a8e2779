-- Package buildsq uses the table buildrequests as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates buildrequests_builds_ready.
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

-- sql/claim.sql
-- claim: ready to running, by a row of buildrequest_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (complete, builderid, priority DESC, submitted_at, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param builderid int32, 3: worker Masterid
MERGE /* buildsq.Claim */ INTO buildrequest_claims
USING (
          SELECT TOP (@p1)
                 id, builderid, priority, submitted_at
          FROM   buildrequests WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
          WHERE  complete = 0
          AND    builderid = @p2
          AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
          ORDER  BY priority DESC, submitted_at, id
      ) AS picked
ON    buildrequest_claims.brid = picked.id
WHEN  NOT MATCHED THEN
      INSERT (brid, masterid, claimed_at)
      VALUES (picked.id, @p3, DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME()))
OUTPUT picked.id, picked.builderid, picked.priority, picked.submitted_at,
       inserted.masterid, inserted.claimed_at
OPTION (LOOP JOIN);

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
SELECT /* buildsq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]'
       ) AS job
       INNER LOOP JOIN buildrequests WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID ClaimedAt Masterid
UPDATE /* buildsq.Complete */ buildrequest_claims
SET    masterid = masterid
OUTPUT inserted.brid
FROM   OPENJSON(@p1) WITH (
           brid_held int '$[0]',
           claimed_at_held int '$[1]',
           masterid_held int '$[2]'
       ) AS job
       INNER LOOP JOIN buildrequest_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  brid = brid_held
WHERE  claimed_at = claimed_at_held
AND    masterid = masterid_held
AND    (EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0));

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* buildsq.Complete */ buildrequests
SET    complete = 1,
       complete_at = DATEDIFF_BIG(second, '19700101', SYSUTCDATETIME())
FROM   OPENJSON(@p1) WITH (
           id_held int '$[0]'
       ) AS job
       INNER LOOP JOIN buildrequests WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  complete = 0;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID ClaimedAt Masterid
DELETE /* buildsq.Fail */ buildrequest_claims
OUTPUT deleted.brid
FROM   OPENJSON(@p1) WITH (
           brid_held int '$[0]',
           claimed_at_held int '$[1]',
           masterid_held int '$[2]'
       ) AS job
       INNER LOOP JOIN buildrequest_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  brid = brid_held
WHERE  claimed_at = claimed_at_held
AND    masterid = masterid_held
AND    (EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID ClaimedAt Masterid
DELETE /* buildsq.Requeue */ buildrequest_claims
OUTPUT deleted.brid
FROM   OPENJSON(@p1) WITH (
           brid_held int '$[0]',
           claimed_at_held int '$[1]',
           masterid_held int '$[2]'
       ) AS job
       INNER LOOP JOIN buildrequest_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  brid = brid_held
WHERE  claimed_at = claimed_at_held
AND    masterid = masterid_held
AND    (EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Builderid, 2: new Priority, 3: new SubmittedAt
INSERT /* buildsq.Enqueue */ INTO buildrequests
       (builderid, priority, submitted_at)
OUTPUT inserted.id
VALUES (@p1, coalesce(@p2, 0), @p3);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Builderid Priority SubmittedAt
SET /* buildsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id int
       );
INSERT INTO buildrequests
       (builderid, priority, submitted_at)
OUTPUT inserted.id
INTO   @kept
SELECT builderid_new, coalesce(priority_new, 0), submitted_at_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           builderid_new int '$[0]',
           priority_new int '$[1]',
           submitted_at_new int '$[2]'
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
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL THEN 1 END) AS ready,
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN buildrequests.complete = 1 THEN 1 END) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same builderid is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param builderid int32
SELECT /* buildsq.StatsOf */
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL THEN 1 END) AS ready,
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN buildrequests.complete = 1 THEN 1 END) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id
WHERE  buildrequests.builderid = @p1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by builderid
-- locks: none
-- index: (complete, builderid, priority DESC, submitted_at, id)
SELECT /* buildsq.Backlog */
       buildrequests.builderid,
       count(*) AS ready
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id
WHERE  buildrequests.complete = 0
AND    buildrequest_claims.brid IS NULL
GROUP  BY buildrequests.builderid
ORDER  BY buildrequests.builderid;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (complete, builderid, priority DESC, submitted_at, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param builderid int32
SELECT /* buildsq.Peek */ TOP (@p1)
       id, builderid, priority, submitted_at
FROM   buildrequests WITH (READPAST, READCOMMITTEDLOCK)
WHERE  complete = 0
AND    builderid = @p2
AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
ORDER  BY priority DESC, submitted_at, id;

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
           VALUES ('id', 'int'),
                  ('builderid', 'int'),
                  ('priority', 'int'),
                  ('complete', 'int'),
                  ('complete_at', 'int'),
                  ('submitted_at', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'buildrequests'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_lease.sql
-- verify: columns of buildrequest_claims
-- locks: none
SELECT /* buildsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('brid', 'int'),
                  ('masterid', 'int'),
                  ('claimed_at', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'buildrequest_claims'
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
WHERE  have.object_id = OBJECT_ID('buildrequests')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('buildrequests')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buildsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('buildrequests_builds_ready', 'complete, builderid, priority desc, submitted_at, id', 'complete, builderid, priority desc, submitted_at', '')
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
           WHERE  have.object_id = OBJECT_ID('buildrequests')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX buildrequests_builds_ready ON buildrequests (complete, builderid, priority DESC, submitted_at, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
