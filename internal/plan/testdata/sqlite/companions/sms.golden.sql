-- Package smsq uses the table outbox as a queue of jobs on SQLite 3.38 and later.
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
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes fired (Claim, Requeue, Extend, Recover); sentitems (Complete, Fail, Recover); outbox_multipart (Complete, Fail, Recover); totals (Complete); tries (Fail); dead (Fail, Recover); outbox (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates outbox_sms_ready and outbox_sms_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: column "id" of dead gets the key of the row (columns: same), and numbers rows by itself as well: where another row has that number, the move fails; name the columns in the place of same, without this one, to have it numbered anew

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority DESC, inserted_at, id, due_at) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: worker Sender, 3: limit
UPDATE /* smsq.Claim */ outbox
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       state = 'busy',
       token = ?1,
       sender = ?2,
       retries = retries + 1
WHERE  id IN (
           SELECT id
           FROM   outbox
           WHERE  state = 'new'
           AND    due_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           ORDER  BY priority DESC, inserted_at, id
           LIMIT  ?3)
RETURNING id, inserted_at, due_at, lease_till, token, retries, priority, number_to,
          last_error, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority DESC, inserted_at, id, due_at) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: worker Sender
UPDATE /* smsq.Claim */ outbox
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       state = 'busy',
       token = ?1,
       sender = ?2,
       retries = retries + 1
WHERE  id = (
           SELECT id
           FROM   outbox
           WHERE  state = 'new'
           AND    due_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           ORDER  BY priority DESC, inserted_at, id
           LIMIT  1)
RETURNING id, inserted_at, due_at, lease_till, token, retries, priority, number_to,
          last_error, body;

-- sql/claim_insert_fired.sql
-- claim: inserts rows into fired for the rows that were taken
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* smsq.Claim */ INTO fired
       (token, outbox_id, sender, at)
SELECT held.token, held.id, held.sender,
       CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   outbox AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Complete */
       id
FROM   outbox
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/complete_move.sql
-- complete: the rows that complete_lock.sql locked go to sentitems before complete.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Token Answer
INSERT /* smsq.Complete */ INTO sentitems
       (id, sent_at, number_to, status, answer)
SELECT held.id, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), held.number_to,
       'SendingOK', answer_held
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held,
                  json_extract(value, '$[2]') AS answer_held
           FROM   json_each(?1)
       ) AS job
       CROSS JOIN outbox AS held
WHERE  held.id = id_held
AND    held.token = token_held;

-- sql/complete_delete_outbox_multipart.sql
-- complete: deletes rows from outbox_multipart for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of outbox_multipart one that begins with outbox_id
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Complete */ FROM outbox_multipart
WHERE  outbox_id IN (
SELECT held.id
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)));

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with number_to, state
-- arguments: 1: batch_all ID Token
UPDATE /* smsq.Complete */ totals
SET    sent = (totals.sent + shared.jobs),
       sent_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       state = 'busy'
FROM   (
       SELECT held.number_to AS of_number_to,
              count(*) AS jobs
       FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
       GROUP  BY held.number_to
       ) AS shared
WHERE  totals.number_to = shared.of_number_to
AND    totals.state = 'open';

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Complete */ FROM outbox
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Fail */
       id
FROM   outbox
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/retry_insert_tries.sql
-- retry: inserts rows into tries for the rows that retry_lock.sql locked, before retry.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: error, 2: batch_all ID Token
INSERT /* smsq.Fail */ INTO tries
       (outbox_id, cause, at, tried, tries)
SELECT held.id, ?1, unixepoch(), 1, held.retries
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch_all ID Token
UPDATE /* smsq.Fail */ outbox
SET    due_at = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL,
       last_error = ?2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?3)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Fail */
       id
FROM   outbox
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to dead before fail.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: error, 2: batch_all ID Token
INSERT /* smsq.Fail */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, ?1, held.body
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2));

-- sql/fail_delete_outbox_multipart.sql
-- fail: deletes rows from outbox_multipart for the rows that fail_lock.sql locked, before fail.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of outbox_multipart one that begins with outbox_id
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Fail */ FROM outbox_multipart
WHERE  outbox_id IN (
SELECT held.id
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)));

-- sql/fail_insert_outbox.sql
-- fail: inserts rows into outbox for the rows that fail_lock.sql locked, before fail.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Token
INSERT /* smsq.Fail */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +((held.priority > 5));

-- sql/fail_insert_sentitems.sql
-- fail: inserts rows into sentitems for the rows that fail_lock.sql locked, before fail.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: error, 2: batch_all ID Token
INSERT /* smsq.Fail */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), held.number_to,
       'SendingError', ?1
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2));

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
DELETE /* smsq.Fail */ FROM outbox
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Requeue */
       id
FROM   outbox
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/requeue_insert_fired.sql
-- requeue: inserts rows into fired for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Token
INSERT /* smsq.Requeue */ INTO fired
       (token, outbox_id, at)
SELECT held.token, held.id, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* smsq.Requeue */ outbox
SET    due_at = CASE WHEN ?1 > 0.0 THEN CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER) ELSE due_at END,
       lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL,
       retries = retries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
SELECT /* smsq.Extend */
       id
FROM   outbox
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/extend_update_fired.sql
-- extend: updates rows of fired for the rows that extend_lock.sql locked, before extend.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of fired one that begins with token, outbox_id
-- arguments: 1: batch_all ID Token
UPDATE /* smsq.Extend */ fired
SET    at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   outbox AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    fired.token = held.token
AND    fired.outbox_id = held.id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* smsq.Extend */ outbox
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state = 'busy')
RETURNING id, lease_till;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* smsq.Recover */
       id
FROM   outbox
WHERE  state = 'busy'
AND    retries < 3
AND    lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
LIMIT  ?1;

-- sql/recover_delete_fired.sql
-- recover: deletes rows from fired for the rows that recover_lock.sql locked, before recover.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of fired one that begins with token, outbox_id
-- arguments: 1: batch_all ID
DELETE /* smsq.Recover */ FROM fired
WHERE  (token, outbox_id) IN (
SELECT held.token, held.id
FROM   outbox AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1)));

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* smsq.Recover */ outbox
SET    lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy'
      AND    retries < 3)
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* smsq.Recover */
       id
FROM   outbox
WHERE  state = 'busy'
AND    retries >= 3
AND    lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
LIMIT  ?1;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to dead before recover_failed.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* smsq.Recover */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, 'the claim ran out', held.body
FROM   outbox AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover_failed_delete_outbox_multipart.sql
-- recover_failed: deletes rows from outbox_multipart for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of outbox_multipart one that begins with outbox_id
-- arguments: 1: batch_all ID
DELETE /* smsq.Recover */ FROM outbox_multipart
WHERE  outbox_id IN (
SELECT held.id
FROM   outbox AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1)));

-- sql/recover_failed_insert_outbox.sql
-- recover_failed: inserts rows into outbox for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* smsq.Recover */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   outbox AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((held.priority > 5));

-- sql/recover_failed_insert_sentitems.sql
-- recover_failed: inserts rows into sentitems for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* smsq.Recover */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), held.number_to,
       'SendingError', 'the claim ran out'
FROM   outbox AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* smsq.Recover */ FROM outbox
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy'
      AND    retries >= 3)
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* smsq.Reserve */ FROM outbox
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new DueAt, 2: new Priority, 3: new NumberTo, 4: new Body
INSERT /* smsq.Enqueue */ INTO outbox
       (inserted_at, due_at, priority, number_to, body)
VALUES (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), coalesce(?1, 0),
        coalesce(?2, 0), ?3, ?4)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all DueAt Priority NumberTo Body
INSERT /* smsq.EnqueueMany */ INTO outbox
       (inserted_at, due_at, priority, number_to, body)
SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), coalesce(due_at_new, 0),
       coalesce(priority_new, 0), number_to_new, body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS due_at_new,
                  json_extract(value, '$[1]') AS priority_new,
                  json_extract(value, '$[2]') AS number_to_new,
                  json_extract(value, '$[3]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* smsq.Stats */
       count(*) FILTER (WHERE state = 'new' AND due_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'new' AND due_at > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(inserted_at) FILTER (WHERE state = 'new' AND due_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))) / 1000.0) AS oldest_ready
FROM   outbox;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority DESC, inserted_at, id, due_at) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* smsq.Peek */
       id, inserted_at, due_at, retries, priority, number_to, last_error, body
FROM   outbox
WHERE  state = 'new'
AND    due_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
ORDER  BY priority DESC, inserted_at, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* smsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('inserted_at', 'INTEGER'),
           ('due_at', 'INTEGER'),
           ('lease_till', 'INTEGER'),
           ('state', 'varchar(8)'),
           ('token', 'TEXT'),
           ('sender', 'varchar(40)'),
           ('retries', 'INTEGER'),
           ('priority', 'INTEGER'),
           ('number_to', 'varchar(20)'),
           ('last_error', 'varchar(200)'),
           ('answer', 'TEXT'),
           ('body', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('outbox') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of fired
-- locks: none
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('token', 'TEXT'),
           ('outbox_id', 'INTEGER'),
           ('sender', 'varchar(40)'),
           ('at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('fired') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also2.sql
-- verify: columns of sentitems
-- locks: none
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('sent_at', 'INTEGER'),
           ('number_to', 'varchar(20)'),
           ('status', 'varchar(16)'),
           ('answer', 'TEXT'),
           ('cause', 'varchar(50)')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('sentitems') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also3.sql
-- verify: columns of outbox_multipart
-- locks: none
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('outbox_id', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('outbox_multipart') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also4.sql
-- verify: columns of totals
-- locks: none
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('sent', 'INTEGER'),
           ('sent_at', 'INTEGER'),
           ('state', 'varchar(8)'),
           ('number_to', 'varchar(20)')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('totals') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also5.sql
-- verify: columns of tries
-- locks: none
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('outbox_id', 'bigint'),
           ('cause', 'varchar(20)'),
           ('at', 'INTEGER'),
           ('tried', 'boolean'),
           ('tries', 'int')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tries') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also6.sql
-- verify: columns of dead
-- locks: none
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'varchar(8)'),
           ('retries', 'INTEGER'),
           ('number_to', 'varchar(20)'),
           ('last_error', 'varchar(200)'),
           ('body', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('dead') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* smsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('outbox_sms_ready', 'priority desc, inserted_at, id', 'priority desc, inserted_at', 'state=''new'''),
           ('outbox_sms_expired', 'lease_till', 'lease_till', 'state=''busy''')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('outbox') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX outbox_sms_ready ON outbox (priority DESC, inserted_at, id, due_at)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX outbox_sms_expired ON outbox (lease_till)
WHERE  state = 'busy';
