-- Package smsq uses the table outbox as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (sentitems)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (dead)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (dead), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes fired (Claim, Requeue, Extend, Recover); sentitems (Complete, Fail, Recover); outbox_multipart (Complete, Fail, Recover); totals (Complete); elsewhere.tries (Fail); dead (Fail, Recover); outbox (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates outbox_sms_ready.
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
-- note: the DDL has no table "elsewhere.tries", so its columns are not checked

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, priority DESC, inserted_at, id, due_at)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token, 3: worker Sender
WITH /* smsq.Claim */ picked AS (
    SELECT TOP (@p1)
           id, inserted_at, due_at, lease_till, state, token, sender, retries, priority,
           number_to, last_error, body
    FROM   outbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  state = 'new'
    AND    due_at <= SYSDATETIMEOFFSET()
    ORDER  BY priority DESC, inserted_at, id
)
UPDATE picked
SET    lease_till = DATEADD(minute, 5, SYSDATETIMEOFFSET()),
       state = 'busy',
       token = @p2,
       sender = @p3,
       retries = retries + 1
OUTPUT inserted.id, CONVERT(varchar(33), inserted.inserted_at, 126),
       CONVERT(varchar(33), inserted.due_at, 126),
       CONVERT(varchar(33), inserted.lease_till, 126),
       LOWER(CONVERT(char(36), inserted.token)), inserted.retries, inserted.priority,
       inserted.number_to, inserted.last_error, inserted.body;

-- sql/claim_insert_fired.sql
-- claim: inserts rows into fired for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* smsq.Claim */ INTO fired
       (token, outbox_id, sender, at)
SELECT held.token, held.id, held.sender, SYSDATETIMEOFFSET()
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Complete */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/complete_move.sql
-- complete: the rows that complete_lock.sql locked go to sentitems before complete.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token Answer
INSERT /* smsq.Complete */ INTO sentitems
       (id, sent_at, number_to, status, answer)
SELECT held.id, SYSDATETIMEOFFSET(), held.number_to, 'SendingOK', answer_held
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]',
           answer_held nvarchar(max) '$[2]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/complete_delete_outbox_multipart.sql
-- complete: deletes rows from outbox_multipart for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Complete */ outbox_multipart
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN outbox_multipart
       ON  outbox_multipart.outbox_id = held.id
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with number_to, state
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* smsq.Complete */ totals
SET    sent = (totals.sent + shared.jobs),
       sent_at = SYSDATETIMEOFFSET(),
       state = 'busy'
FROM   (
           SELECT held.number_to AS of_number_to,
                  count(*) AS jobs
           FROM   OPENJSON(@p1) WITH (
                      id_held bigint '$[0]',
                      token_held nvarchar(36) '$[1]'
                  ) AS job
                  INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                  ON  held.id = id_held
           WHERE  held.token = CONVERT(uniqueidentifier, token_held)
           GROUP  BY held.number_to
       ) AS shared
       INNER JOIN totals
       ON  totals.number_to = shared.of_number_to
       AND totals.state = 'open';

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Complete */ outbox
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Fail */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/retry_insert_tries.sql
-- retry: inserts rows into elsewhere.tries for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID Token
INSERT /* smsq.Fail */ INTO elsewhere.tries
       (outbox_id, cause, at, tried, tries)
SELECT held.id, @p1, (SYSDATETIMEOFFSET()), 1, held.retries
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch_all ID Token
UPDATE /* smsq.Fail */ outbox
SET    due_at = DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())),
       lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL,
       last_error = @p2
OUTPUT inserted.id
FROM   OPENJSON(@p3) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Fail */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to dead before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID Token
INSERT /* smsq.Fail */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, @p1, held.body
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/fail_delete_outbox_multipart.sql
-- fail: deletes rows from outbox_multipart for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Fail */ outbox_multipart
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN outbox_multipart
       ON  outbox_multipart.outbox_id = held.id
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/fail_insert_outbox.sql
-- fail: inserts rows into outbox for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
INSERT /* smsq.Fail */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.token = CONVERT(uniqueidentifier, token_held)
AND    (held.priority > 5);

-- sql/fail_insert_sentitems.sql
-- fail: inserts rows into sentitems for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch_all ID Token
INSERT /* smsq.Fail */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, SYSDATETIMEOFFSET(), held.number_to, 'SendingError', @p1
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Fail */ outbox
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Requeue */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/requeue_insert_fired.sql
-- requeue: inserts rows into fired for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
INSERT /* smsq.Requeue */ INTO fired
       (token, outbox_id, at)
SELECT held.token, held.id, SYSDATETIMEOFFSET()
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* smsq.Requeue */ outbox
SET    due_at = CASE WHEN @p1 > 0.0 THEN DATEADD(millisecond, (@p1 - FLOOR(@p1)) * 1000, DATEADD(second, FLOOR(@p1), SYSDATETIMEOFFSET())) ELSE due_at END,
       lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL,
       retries = retries - 1
OUTPUT inserted.id
FROM   OPENJSON(@p2) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Extend */
       id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/extend_update_fired.sql
-- extend: updates rows of fired for the rows that extend_lock.sql locked, before extend.sql
-- locks: the rows it writes, until commit
-- index: the key; of fired one that begins with token, outbox_id
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* smsq.Extend */ fired
SET    at = SYSDATETIMEOFFSET()
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN fired
       ON  fired.token = held.token
       AND fired.outbox_id = held.id
WHERE  held.token = CONVERT(uniqueidentifier, token_held);

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID Token
UPDATE /* smsq.Extend */ outbox
SET    lease_till = DATEADD(minute, 5, SYSDATETIMEOFFSET())
OUTPUT inserted.id, CONVERT(varchar(33), inserted.lease_till, 126)
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]',
           token_held nvarchar(36) '$[1]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  token = CONVERT(uniqueidentifier, token_held)
AND    state = 'busy';

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, priority DESC, inserted_at, id, due_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Recover */ TOP (@p1)
       id
FROM   outbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'busy'
AND    retries < 3
AND    lease_till <= SYSDATETIMEOFFSET();

-- sql/recover_delete_fired.sql
-- recover: deletes rows from fired for the rows that recover_lock.sql locked, before recover.sql
-- locks: the rows it writes, until commit
-- index: the key; of fired one that begins with token, outbox_id
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* smsq.Recover */ fired
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN fired
       ON  fired.token = held.token
       AND fired.outbox_id = held.id;

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
UPDATE /* smsq.Recover */ outbox
SET    lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL
OUTPUT inserted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy'
AND    retries < 3;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, priority DESC, inserted_at, id, due_at), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Recover */ TOP (@p1)
       id
FROM   outbox WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
WHERE  state = 'busy'
AND    retries >= 3
AND    lease_till <= SYSDATETIMEOFFSET();

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to dead before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* smsq.Recover */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, 'the claim ran out', held.body
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held;

-- sql/recover_failed_delete_outbox_multipart.sql
-- recover_failed: deletes rows from outbox_multipart for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* smsq.Recover */ outbox_multipart
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
       INNER JOIN outbox_multipart
       ON  outbox_multipart.outbox_id = held.id;

-- sql/recover_failed_insert_outbox.sql
-- recover_failed: inserts rows into outbox for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* smsq.Recover */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held
WHERE  (held.priority > 5);

-- sql/recover_failed_insert_sentitems.sql
-- recover_failed: inserts rows into sentitems for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
INSERT /* smsq.Recover */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, SYSDATETIMEOFFSET(), held.number_to, 'SendingError', 'the claim ran out'
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox AS held WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  held.id = id_held;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all ID
DELETE /* smsq.Recover */ outbox
OUTPUT deleted.id
FROM   OPENJSON(@p1) WITH (
           id_held bigint '$[0]'
       ) AS job
       INNER LOOP JOIN outbox WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  id = id_held
WHERE  state = 'busy'
AND    retries >= 3;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Priority, 3: new NumberTo, 4: new Body
INSERT /* smsq.Enqueue */ INTO outbox
       (inserted_at, due_at, priority, number_to, body)
OUTPUT inserted.id
VALUES (SYSDATETIMEOFFSET(),
        coalesce(CONVERT(datetimeoffset, @p1, 126), SYSDATETIMEOFFSET()), coalesce(@p2, 0),
        CONVERT(varchar(8000), @p3), @p4);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_all DueAt Priority NumberTo Body
SET /* smsq.EnqueueMany */ NOCOUNT ON;
DECLARE @kept TABLE (
           id bigint
       );
INSERT INTO outbox
       (inserted_at, due_at, priority, number_to, body)
OUTPUT inserted.id
INTO   @kept
SELECT SYSDATETIMEOFFSET(),
       coalesce(CONVERT(datetimeoffset, due_at_new, 126), SYSDATETIMEOFFSET()),
       coalesce(priority_new, 0), CONVERT(varchar(8000), number_to_new), body_new
FROM   OPENJSON(@p1) AS list
       CROSS APPLY OPENJSON(list.[value]) WITH (
           due_at_new varchar(33) '$[0]',
           priority_new int '$[1]',
           number_to_new nvarchar(4000) '$[2]',
           body_new nvarchar(max) '$[3]'
       ) AS job
ORDER  BY CAST(list.[key] AS int);
SELECT id
FROM   @kept
ORDER  BY id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* smsq.Stats */
       count(CASE WHEN state = 'new' AND due_at <= SYSDATETIMEOFFSET() THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'new' AND due_at > SYSDATETIMEOFFSET() THEN 1 END) AS delayed,
       count(CASE WHEN state = 'busy' AND lease_till <= SYSDATETIMEOFFSET() THEN 1 END) AS expired,
       DATEDIFF_BIG(millisecond, min(CASE WHEN state = 'new' AND due_at <= SYSDATETIMEOFFSET() THEN inserted_at END), SYSDATETIMEOFFSET()) / 1000.0 AS oldest_ready
FROM   outbox;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, priority DESC, inserted_at, id, due_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Peek */ TOP (@p1)
       id, CONVERT(varchar(33), inserted_at, 126), CONVERT(varchar(33), due_at, 126),
       retries, priority, number_to, last_error, body
FROM   outbox WITH (READPAST, READCOMMITTEDLOCK)
WHERE  state = 'new'
AND    due_at <= SYSDATETIMEOFFSET()
ORDER  BY priority DESC, inserted_at, id;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* smsq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* smsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('inserted_at', 'datetimeoffset'),
                  ('due_at', 'datetimeoffset'),
                  ('lease_till', 'datetimeoffset'),
                  ('state', 'varchar'),
                  ('token', 'uniqueidentifier'),
                  ('sender', 'varchar'),
                  ('retries', 'int'),
                  ('priority', 'int'),
                  ('number_to', 'varchar'),
                  ('last_error', 'varchar'),
                  ('answer', 'nvarchar'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'outbox'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of fired
-- locks: none
SELECT /* smsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('token', 'uniqueidentifier'),
                  ('outbox_id', 'bigint'),
                  ('sender', 'varchar'),
                  ('at', 'datetimeoffset')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'fired'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of sentitems
-- locks: none
SELECT /* smsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('sent_at', 'datetimeoffset'),
                  ('number_to', 'varchar'),
                  ('status', 'varchar'),
                  ('answer', 'nvarchar'),
                  ('cause', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'sentitems'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of outbox_multipart
-- locks: none
SELECT /* smsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('outbox_id', 'bigint')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'outbox_multipart'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also4.sql
-- verify: columns of totals
-- locks: none
SELECT /* smsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('sent', 'int'),
                  ('sent_at', 'datetimeoffset'),
                  ('state', 'varchar'),
                  ('number_to', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'totals'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_columns_also5.sql
-- verify: columns of dead
-- locks: none
SELECT /* smsq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('id', 'bigint'),
                  ('state', 'varchar'),
                  ('retries', 'int'),
                  ('number_to', 'varchar'),
                  ('last_error', 'varchar'),
                  ('body', 'nvarchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'dead'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* smsq.Verify */
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
WHERE  have.object_id = OBJECT_ID('outbox')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('outbox')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* smsq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('outbox_sms_ready', 'state, priority desc, inserted_at, id', 'state, priority desc, inserted_at', '')
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
           WHERE  have.object_id = OBJECT_ID('outbox')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX outbox_sms_ready ON outbox (state, priority DESC, inserted_at, id, due_at);
-- Writers wait for this while it runs. Where the edition builds indexes online (Enterprise, Azure), say
-- WITH (ONLINE = ON).
