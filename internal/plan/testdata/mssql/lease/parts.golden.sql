-- Package partsq uses the table parts as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table part_claims, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parts_ready.
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
-- note: no order is said: rows are taken in the order of the key, region, seq

-- sql/claim.sql
-- claim: ready to running, by a row of part_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token, 3: worker Worker
MERGE /* partsq.Claim */ INTO part_claims
USING (
          SELECT TOP (@p1)
                 region, seq
          FROM   parts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
          WHERE  state = 'N'
          AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= SYSUTCDATETIME() AND part_claims.attempts < 3))
          ORDER  BY region, seq
      ) AS picked
ON    part_claims.region = picked.region
      AND part_claims.seq = picked.seq
WHEN  MATCHED AND part_claims.failed_at IS NULL
      AND part_claims.claimed_until <= SYSUTCDATETIME()
      AND part_claims.attempts < 3 THEN
      UPDATE SET token = @p2,
                 worker = @p3,
                 claimed_until = DATEADD(minute, 10, SYSUTCDATETIME()),
                 attempts = part_claims.attempts + 1
WHEN  NOT MATCHED THEN
      INSERT (region, seq, token, worker, claimed_until, attempts)
      VALUES (picked.region, picked.seq, @p2, @p3, DATEADD(minute, 10, SYSUTCDATETIME()),
              1)
OUTPUT inserted.region, inserted.seq
OPTION (LOOP JOIN);

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of part_claims, and the key
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* partsq.Claim */
       parts.region, parts.seq, part_claims.token,
       CONVERT(varchar(27), part_claims.claimed_until, 126), part_claims.attempts,
       part_claims.error
FROM   part_claims, parts WITH (READPAST, READCOMMITTEDLOCK)
WHERE  part_claims.token = @p1
AND    part_claims.region = parts.region
AND    part_claims.seq = parts.seq
AND    parts.state = 'N';

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq
SELECT /* partsq.Complete */
       region, seq
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]'
       ) AS job
       INNER LOOP JOIN parts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq Token
DELETE /* partsq.Complete */ part_claims
OUTPUT deleted.region, deleted.seq
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]',
           token_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN part_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'));

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq
UPDATE /* partsq.Complete */ parts
SET    state = 'C'
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]'
       ) AS job
       INNER LOOP JOIN parts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held
WHERE  state = 'N';

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch_all Region Seq Token
UPDATE /* partsq.Fail */ part_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       error = @p2
OUTPUT inserted.region, inserted.seq
FROM   OPENJSON(@p3) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]',
           token_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN part_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'));

-- sql/fail_before.sql
-- fail: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq
SELECT /* partsq.Fail */
       region, seq
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]'
       ) AS job
       INNER LOOP JOIN parts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq Token
DELETE /* partsq.Fail */ part_claims
OUTPUT deleted.region, deleted.seq
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]',
           token_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN part_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'));

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq
UPDATE /* partsq.Fail */ parts
SET    state = 'E'
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]'
       ) AS job
       INNER LOOP JOIN parts WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held
WHERE  state = 'N';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all Region Seq Token
UPDATE /* partsq.Requeue */ part_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSUTCDATETIME())),
       attempts = attempts - 1
OUTPUT inserted.region, inserted.seq
FROM   OPENJSON(@p2) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]',
           token_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN part_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'));

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq Token
UPDATE /* partsq.Extend */ part_claims
SET    claimed_until = DATEADD(minute, 10, SYSUTCDATETIME())
OUTPUT inserted.region, inserted.seq, CONVERT(varchar(27), inserted.claimed_until, 126)
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]',
           token_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN part_claims WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held
WHERE  token = CONVERT(varchar(8000), token_held)
AND    failed_at IS NULL
AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: part_claims_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Recover */ picked AS (
    SELECT TOP (@p1)
           region, seq, token, worker
    FROM   part_claims WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  failed_at IS NULL
    AND    token IS NOT NULL
    AND    attempts < 3
    AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'))
    AND    claimed_until <= SYSUTCDATETIME()
)
UPDATE picked
SET    token = NULL,
       worker = NULL
OUTPUT inserted.region, inserted.seq;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Recover */ picked AS (
    SELECT TOP (@p1)
           region, seq, state
    FROM   parts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'N'
    AND    (EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND part_claims.claimed_until <= SYSUTCDATETIME() AND part_claims.attempts >= 3))
)
UPDATE picked
SET    state = 'E'
OUTPUT inserted.region, inserted.seq;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: part_claims_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Recover */ picked AS (
    SELECT TOP (@p1)
           region, seq
    FROM   part_claims WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (NOT EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'))
    AND    claimed_until <= SYSUTCDATETIME()
)
DELETE FROM picked
OUTPUT deleted.region, deleted.seq;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Redrive */ picked AS (
    SELECT TOP (@p1)
           region, seq, state
    FROM   parts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'E'
)
UPDATE picked
SET    state = 'N'
OUTPUT inserted.region, inserted.seq;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Purge */ picked AS (
    SELECT TOP (@p1)
           region, seq
    FROM   parts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'C'
)
DELETE FROM picked
OUTPUT deleted.region, deleted.seq;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Purge */ picked AS (
    SELECT TOP (@p1)
           region, seq
    FROM   parts WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'E'
)
DELETE FROM picked
OUTPUT deleted.region, deleted.seq;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Region, 2: new Seq
INSERT /* partsq.Enqueue */ INTO parts
       (region, seq, state)
OUTPUT inserted.region, inserted.seq
VALUES (CONVERT(varchar(8000), @p1), @p2, 'N');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(CASE WHEN parts.state = 'N' AND (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= SYSUTCDATETIME() AND part_claims.attempts < 3) THEN 1 END) AS ready,
       count(CASE WHEN parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until > SYSUTCDATETIME() THEN 1 END) AS running,
       count(CASE WHEN parts.state = 'N' AND part_claims.token IS NULL AND part_claims.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed,
       count(CASE WHEN parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until <= SYSUTCDATETIME() THEN 1 END) AS expired,
       count(CASE WHEN parts.state = 'C' THEN 1 END) AS done,
       count(CASE WHEN parts.state = 'E' THEN 1 END) AS failed
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, region, seq)
SELECT /* partsq.Backlog */
       count(CASE WHEN (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= SYSUTCDATETIME() AND part_claims.attempts < 3) THEN 1 END) AS ready,
       count(CASE WHEN part_claims.token IS NULL AND part_claims.claimed_until > SYSUTCDATETIME() THEN 1 END) AS delayed
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq
WHERE  parts.state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, region, seq)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* partsq.Peek */ TOP (@p1)
       region, seq
FROM   parts WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'N'
AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= SYSUTCDATETIME() AND part_claims.attempts < 3))
ORDER  BY region, seq;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* partsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('region', 'varchar'),
                  ('seq', 'int'),
                  ('state', 'char')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'parts'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_lease.sql
-- verify: columns of part_claims
-- locks: none
SELECT /* partsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('region', 'varchar'),
                  ('seq', 'int'),
                  ('token', 'char'),
                  ('worker', 'nvarchar'),
                  ('claimed_until', 'datetime2'),
                  ('attempts', 'int'),
                  ('error', 'nvarchar'),
                  ('failed_at', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'part_claims'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* partsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('parts')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('parts')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* partsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('parts_ready', 'state, region, seq', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('parts')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX parts_ready ON parts (state, region, seq);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
