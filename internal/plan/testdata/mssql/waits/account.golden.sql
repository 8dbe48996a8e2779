-- Package accountq uses the table mails as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the claim waits for locked rows, and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in account, at most as many run at once as this says: select most from accounts where id = {row}.account; a claim locks the running rows of each group as it counts them, and the gap where another would appear. A claim can come back with fewer jobs than are ready, and with none while others are: where another claims from a group at that moment it waits for that, leaves out the jobs of groups that are full then, and looks for no others in their place.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_account_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the claim waits for locked rows, and UPDATE returns what it changed
--   block        SQL Server has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     SQL Server has no locks on numbers
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows of groups that are not full, which claim.sql then takes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (state, account, made, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param account int32
SELECT /* accountq.Claim */ TOP (@p1)
       id
FROM   mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'new'
AND    account = @p2
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.account = @p2
               AND    other.state = 'busy')
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.account = @p2
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   mails AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.account = @p2
               AND    other.state = 'new'
               AND    (other.made < mails.made OR other.made = mails.made AND other.id < mails.id))
ORDER  BY made, id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* accountq.Claim */ mails
SET    state = 'busy',
       till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, inserted.account, CONVERT(varchar(27), inserted.till, 126),
       CONVERT(varchar(27), inserted.made, 126)
FROM   OPENJSON(@p1) WITH (
           id_picked bigint '$[0]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_picked
WHERE  coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other WITH (UPDLOCK, HOLDLOCK)
               WHERE  other.account = mails.account
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   mails AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.account = mails.account
               AND    other.state = 'new'
               AND    (other.made < mails.made OR other.made = mails.made AND other.id < mails.id));

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* accountq.Complete */ mails
SET    state = 'sent',
       till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'busy';

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* accountq.Fail */ mails
SET    state = 'dead',
       till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* accountq.Requeue */ mails
SET    state = 'new',
       till = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'busy';

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Till
UPDATE /* accountq.Extend */ mails
SET    till = DATEADD(minute, 5, SYSUTCDATETIME())
OUTPUT inserted.id, CONVERT(varchar(27), inserted.till, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           till_held varchar(27) '$[1]'
       ) AS job
       INNER LOOP JOIN mails WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  till = CONVERT(datetime2, till_held, 126)
AND    state = 'busy';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
WITH /* accountq.Recover */ picked AS (
    SELECT TOP (@p1)
           id, state, till
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'busy'
    AND    till <= SYSUTCDATETIME()
)
UPDATE picked
SET    state = 'new',
       till = NULL
OUTPUT inserted.id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* accountq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, till
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
)
UPDATE picked
SET    state = 'new',
       till = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* accountq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'sent'
    AND    made <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: limit, 2: older
WITH /* accountq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   mails WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'dead'
    AND    made <= DATEADD(millisecond, -(@p2 - FLOOR(@p2)) * 1000, DATEADD(second, -FLOOR(@p2), SYSUTCDATETIME()))
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Account
INSERT /* accountq.Enqueue */ INTO mails
       (account, made)
OUTPUT inserted.id
VALUES (@p1, SYSUTCDATETIME());

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Account
SET /* accountq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO mails
       (account, made)
OUTPUT inserted.id
INTO   @kept
SELECT account_new, SYSUTCDATETIME()
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           account_new int '$[0]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* accountq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND till <= SYSUTCDATETIME() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'new' THEN made END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   mails;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same account is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param account int32
SELECT /* accountq.StatsOf */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND till <= SYSUTCDATETIME() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'new' THEN made END), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   mails
WHERE  account = @p1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by account
-- locks: none
-- index: (state, account, made, id)
SELECT /* accountq.Backlog */
       account,
       count(*) AS ready,
       DATEDIFF_BIG(millisecond, min(made), SYSUTCDATETIME()) / 1000.0 AS oldest_ready
FROM   mails
WHERE  state = 'new'
GROUP  BY account
ORDER  BY account;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, account, made, id)
-- isolation: read committed
-- arguments: 1: limit, 2: param account int32
SELECT /* accountq.Peek */ TOP (@p1)
       id, account, CONVERT(varchar(27), made, 126)
FROM   mails WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
AND    account = @p2
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.account = @p2
               AND    other.state = 'busy')
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.account = @p2
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   mails AS other WITH (READPAST, READCOMMITTEDLOCK)
               WHERE  other.account = @p2
               AND    other.state = 'new'
               AND    (other.made < mails.made OR other.made = mails.made AND other.id < mails.id))
ORDER  BY made, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* accountq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* accountq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('account', 'int'),
                  ('state', 'varchar'),
                  ('till', 'datetime2'),
                  ('made', 'datetime2')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'mails'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* accountq.Verify */
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
WHERE  have.object_id = OBJECT_ID('mails')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('mails')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* accountq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('mails_account_ready', 'state, account, made, id', 'state, account, made', '')
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
           WHERE  have.object_id = OBJECT_ID('mails')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Claim: who is before a row in its group, and which of them run; it also serves Recover: rows that somebody has, which are few
CREATE INDEX mails_account_ready ON mails (state, account, made, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
