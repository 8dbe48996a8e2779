-- Package lettersq uses the table letters as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes totals (Enqueue, Claim, Complete, Fail, Requeue); workers (Complete); tries (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: warning: also: fail makes column "queued" of totals from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
WITH /* lettersq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, address, weight, state, tries, holder
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    ORDER  BY id
)
UPDATE picked
SET    state = 'busy',
       tries = tries + 1,
       holder = @p2
OUTPUT inserted.id, inserted.address, inserted.weight, inserted.tries, inserted.holder;

-- sql/claim_update_totals.sql
-- claim: updates rows of totals for the rows that were taken; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address, kind
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* lettersq.Claim */ totals
SET    queued = (totals.queued - shared.jobs),
       taken_at = SYSUTCDATETIME()
FROM   (
           SELECT held.address AS of_address,
                  count(*) AS jobs
           FROM   OPENJSON(@p1) WITH (
                      id_held bigint '$[0]'
                  ) AS job
                  INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.id = id_held
           GROUP  BY held.address
       ) AS shared
       INNER JOIN totals
       ON  totals.address = shared.of_address
       AND totals.kind = 'letter';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ totals
SET    weight = (totals.weight - shared.sum_weight),
       queued = (totals.queued + 0 * shared.jobs)
FROM   (
           SELECT held.address AS of_address,
                  sum(held.weight) AS sum_weight,
                  count(*) AS jobs
           FROM   OPENJSON(@p1) WITH (
                      id_held bigint '$[0]',
                      tries_held int '$[1]',
                      holder_held nvarchar(4000) '$[2]'
                  ) AS job
                  INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.id = id_held
           WHERE  held.tries = tries_held
           AND    held.holder = holder_held
           GROUP  BY held.address
       ) AS shared
       INNER JOIN totals
       ON  totals.address = shared.of_address;

-- sql/complete_update_totals_2.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ totals
SET    last_id = held.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN totals
       ON  totals.address = held.address
WHERE  held.tries = tries_held
AND    held.holder = holder_held;

-- sql/complete_update_workers.sql
-- complete: updates rows of workers for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of workers one that begins with name
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ workers
SET    done = (done + 2 * shared.jobs)
FROM   (
           SELECT held.holder AS of_name,
                  count(*) AS jobs
           FROM   OPENJSON(@p1) WITH (
                      id_held bigint '$[0]',
                      tries_held int '$[1]',
                      holder_held nvarchar(4000) '$[2]'
                  ) AS job
                  INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.id = id_held
           WHERE  held.tries = tries_held
           AND    held.holder = holder_held
           GROUP  BY held.holder
       ) AS shared
       INNER JOIN workers
       ON  workers.name = shared.of_name;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ letters
SET    state = 'sent'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Fail */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/retry_update_totals.sql
-- retry: updates rows of totals for the rows that retry_lock.sql locked, before retry.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ totals
SET    queued = (totals.queued + shared.jobs),
       weight = (coalesce(totals.weight, 0) + shared.sum_weight)
FROM   (
           SELECT held.address AS of_address,
                  count(*) AS jobs,
                  sum(-held.weight + 1) AS sum_weight
           FROM   OPENJSON(@p1) WITH (
                      id_held bigint '$[0]',
                      tries_held int '$[1]',
                      holder_held nvarchar(4000) '$[2]'
                  ) AS job
                  INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.id = id_held
           WHERE  held.tries = tries_held
           AND    held.holder = holder_held
           GROUP  BY held.address
       ) AS shared
       INNER JOIN totals
       ON  totals.address = shared.of_address;

-- sql/retry_update_tries.sql
-- retry: updates rows of tries for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key; of tries one that begins with letter_id
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ tries
SET    n = (n + 1)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN tries
       ON  tries.letter_id = held.id
WHERE  held.tries = tries_held
AND    held.holder = holder_held;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ letters
SET    state = 'new',
       holder = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Fail */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/fail_update_totals.sql
-- fail: updates rows of totals for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ totals
SET    queued = ((totals.queued + 1) * 2)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN totals
       ON  totals.address = held.address
WHERE  held.tries = tries_held
AND    held.holder = holder_held;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ letters
SET    state = 'lost'
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Requeue */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/requeue_update_totals.sql
-- requeue: updates rows of totals for the rows that requeue_lock.sql locked, before requeue.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Requeue */ totals
SET    queued = (totals.queued + shared.jobs)
FROM   (
           SELECT held.address AS of_address,
                  count(*) AS jobs
           FROM   OPENJSON(@p1) WITH (
                      id_held bigint '$[0]',
                      tries_held int '$[1]',
                      holder_held nvarchar(4000) '$[2]'
                  ) AS job
                  INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.id = id_held
           WHERE  held.tries = tries_held
           AND    held.holder = holder_held
           GROUP  BY held.address
       ) AS shared
       INNER JOIN totals
       ON  totals.address = shared.of_address;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Requeue */ letters
SET    state = 'new',
       tries = tries - 1,
       holder = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           tries_held int '$[1]',
           holder_held nvarchar(4000) '$[2]'
       ) AS job
       INNER LOOP JOIN letters WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  tries = tries_held
AND    holder = holder_held
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* lettersq.Redrive */ picked AS (
    SELECT TOP (@p1)
           id, state, tries, holder
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'lost'
)
UPDATE picked
SET    state = 'new',
       tries = 0,
       holder = NULL
OUTPUT inserted.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* lettersq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'sent'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* lettersq.Purge */ picked AS (
    SELECT TOP (@p1)
           id
    FROM   letters WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'lost'
)
DELETE FROM picked
OUTPUT deleted.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address, 2: new Weight
INSERT /* lettersq.Enqueue */ INTO letters
       (address, weight)
OUTPUT inserted.id
VALUES (@p1, @p2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all Address Weight
SET /* lettersq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO letters
       (address, weight)
OUTPUT inserted.id
INTO   @kept
SELECT address_new, weight_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           address_new nvarchar(4000) '$[0]',
           weight_new int '$[1]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of totals for the rows that were added; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* lettersq.Enqueue */ totals
SET    queued = (queued + shared.jobs),
       weight = (totals.weight + shared.sum_weight)
FROM   (
           SELECT held.address AS of_address,
                  count(*) AS jobs,
                  sum(held.weight) AS sum_weight
           FROM   OPENJSON(@p1) WITH (
                      id_held bigint '$[0]'
                  ) AS job
                  INNER LOOP JOIN letters AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.id = id_held
           GROUP  BY held.address
       ) AS shared
       INNER JOIN totals
       ON  totals.address = shared.of_address;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'lost' THEN 1 END) AS failed
FROM   letters;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* lettersq.Backlog */
       count(*) AS ready
FROM   letters
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lettersq.Peek */ TOP (@p1)
       id, address, weight, tries
FROM   letters WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
ORDER  BY id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('address', 'nvarchar'),
                  ('weight', 'int'),
                  ('state', 'varchar'),
                  ('tries', 'int'),
                  ('holder', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'letters'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of totals
-- locks: none
SELECT /* lettersq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('queued', 'int'),
                  ('weight', 'int'),
                  ('address', 'nvarchar'),
                  ('taken_at', 'datetime2'),
                  ('kind', 'varchar'),
                  ('last_id', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'totals'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of workers
-- locks: none
SELECT /* lettersq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('done', 'int'),
                  ('name', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'workers'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of tries
-- locks: none
SELECT /* lettersq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('n', 'int'),
                  ('letter_id', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'tries'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* lettersq.Verify */
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
WHERE  have.object_id = OBJECT_ID('letters')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('letters')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('letters_ready', 'state, id', 'state', '')
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
           WHERE  have.object_id = OBJECT_ID('letters')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX letters_ready ON letters (state, id);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
