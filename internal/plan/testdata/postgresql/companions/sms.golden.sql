-- Package smsq uses the table outbox as a queue of jobs on PostgreSQL 9.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (sentitems)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (dead)
-- 	running  --Requeue---------> ready
-- 	running  --Partial---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (dead), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits; another claimer waits for it. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes fired (Claim, Requeue, Extend, Recover, Partial); sentitems (Complete, Fail, Recover); outbox_multipart (Complete, Fail, Recover); totals (Complete); tries (Fail); dead (Fail, Recover); outbox (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates outbox_sms_ready and outbox_sms_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    PostgreSQL 9.4 cannot pass over locked rows
--   block        PostgreSQL has no anonymous blocks that give rows back
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  PostgreSQL 9.4 cannot pass over locked rows
--   advisory     not needed: token comes first
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: (priority DESC, inserted_at, id, due_at) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Sender, 3: limit
UPDATE /* smsq.Claim */ outbox
SET    lease_till = now() + interval '5 minutes',
       state = 'busy',
       token = $1,
       sender = $2,
       retries = retries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   outbox
           WHERE  state = 'new'
           AND    due_at <= now()
           ORDER  BY priority DESC, inserted_at, id
           LIMIT  $3
           FOR    NO KEY UPDATE));

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: none; it reads the table
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* smsq.Claim */
       id, inserted_at, due_at, lease_till, token, retries, priority, number_to,
       last_error, body
FROM   outbox
WHERE  token = $1
AND    state = 'busy';

-- sql/claim_insert_fired.sql
-- claim: inserts rows into fired for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* smsq.Claim */ INTO fired
       (token, outbox_id, sender, at)
SELECT held.token, held.id, held.sender, now()
FROM   outbox AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
SELECT /* smsq.Complete */
       id
FROM   outbox,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
FOR    UPDATE OF outbox;

-- sql/complete_move.sql
-- complete: the rows that complete_lock.sql locked go to sentitems before complete.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token, 3: batch Answer
INSERT /* smsq.Complete */ INTO sentitems
       (id, sent_at, number_to, status, answer)
SELECT held.id, now(), held.number_to, 'SendingOK', answer_held
FROM   outbox AS held,
       unnest($1::bigint[], $2::uuid[], $3::text[]) AS job (id_held, token_held, answer_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held THEN true END;

-- sql/complete_delete_outbox_multipart.sql
-- complete: deletes rows from outbox_multipart for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
DELETE /* smsq.Complete */ FROM outbox_multipart
USING  outbox AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held THEN true END
AND    outbox_multipart.outbox_id = held.id;

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with number_to, state
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* smsq.Complete */ totals
SET    sent = (totals.sent + shared.jobs),
       sent_at = now(),
       state = 'busy'
FROM   (
           SELECT held.number_to AS of_number_to,
                  count(*) AS jobs
           FROM   outbox AS held,
                  unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
           WHERE  held.id = id_held
           AND    CASE WHEN held.token = token_held THEN true END
           GROUP  BY held.number_to
       ) AS shared
WHERE  totals.number_to = shared.of_number_to
AND    totals.state = 'open';

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
DELETE /* smsq.Complete */ FROM outbox
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used; adds rows to tries
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch ID, 4: batch Token, 5: error
WITH /* smsq.Fail */ held AS (
    UPDATE outbox
    SET    due_at = now() + make_interval(secs => $1),
           lease_till = NULL,
           state = 'new',
           token = NULL,
           sender = NULL,
           last_error = $2
    FROM   unnest($3::bigint[], $4::uuid[]) AS job (id_held, token_held)
    WHERE  id = id_held
    AND    CASE WHEN token = token_held
                AND    state = 'busy' THEN true END
    RETURNING id, retries
),
added AS (
    INSERT INTO tries
           (outbox_id, cause, at, tried, tries)
    SELECT held.id, $5, now(), true, held.retries
    FROM   held
)
SELECT id
FROM   held;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
SELECT /* smsq.Fail */
       id
FROM   outbox,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
FOR    UPDATE OF outbox;

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to dead before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Token
INSERT /* smsq.Fail */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, $1, held.body
FROM   outbox AS held,
       unnest($2::bigint[], $3::uuid[]) AS job (id_held, token_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held THEN true END;

-- sql/fail_delete_outbox_multipart.sql
-- fail: deletes rows from outbox_multipart for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
DELETE /* smsq.Fail */ FROM outbox_multipart
USING  outbox AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held THEN true END
AND    outbox_multipart.outbox_id = held.id;

-- sql/fail_insert_outbox.sql
-- fail: inserts rows into outbox for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
INSERT /* smsq.Fail */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   outbox AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held
            AND    (held.priority > 5) THEN true END;

-- sql/fail_insert_sentitems.sql
-- fail: inserts rows into sentitems for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Token
INSERT /* smsq.Fail */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, now(), held.number_to, 'SendingError', $1
FROM   outbox AS held,
       unnest($2::bigint[], $3::uuid[]) AS job (id_held, token_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held THEN true END;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
DELETE /* smsq.Fail */ FROM outbox
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used; adds rows to fired
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Token
WITH /* smsq.Requeue */ held AS (
    UPDATE outbox
    SET    due_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE due_at END,
           lease_till = NULL,
           state = 'new',
           token = NULL,
           sender = NULL,
           retries = retries - 1
    FROM   unnest($2::bigint[], $3::uuid[]) AS job (id_held, token_held)
    WHERE  id = id_held
    AND    CASE WHEN token = token_held
                AND    state = 'busy' THEN true END
    RETURNING id, token_held AS token
),
added AS (
    INSERT INTO fired
           (token, outbox_id, at)
    SELECT held.token, held.id, now()
    FROM   held
)
SELECT id
FROM   held;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
SELECT /* smsq.Extend */
       id
FROM   outbox,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF outbox;

-- sql/extend_update_fired.sql
-- extend: updates rows of fired for the rows that extend_lock.sql locked, before extend.sql
-- locks: the rows it writes, until commit
-- index: the key; of fired one that begins with token, outbox_id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* smsq.Extend */ fired
SET    at = now()
FROM   outbox AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held THEN true END
AND    fired.token = held.token
AND    fired.outbox_id = held.id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* smsq.Extend */ outbox
SET    lease_till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
RETURNING id, lease_till;

-- sql/outcome_partial.sql
-- outcome_partial: running to ready; adds rows to fired
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
WITH /* smsq.Partial */ held AS (
    UPDATE outbox
    SET    lease_till = NULL,
           state = 'new',
           token = NULL,
           sender = NULL,
           retries = retries - 1
    FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
    WHERE  id = id_held
    AND    CASE WHEN token = token_held
                AND    state = 'busy' THEN true END
    RETURNING id, token_held AS token
),
added AS (
    INSERT INTO fired
           (token, outbox_id, at)
    SELECT held.token, held.id, now()
    FROM   held
)
SELECT id
FROM   held;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (lease_till) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Recover */
       id
FROM   outbox
WHERE  state = 'busy'
AND    retries < 3
AND    lease_till <= now()
LIMIT  $1
FOR    NO KEY UPDATE;

-- sql/recover_delete_fired.sql
-- recover: deletes rows from fired for the rows that recover_lock.sql locked, before recover.sql
-- locks: the rows it writes, until commit
-- index: the key; of fired one that begins with token, outbox_id
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* smsq.Recover */ FROM fired
USING  outbox AS held
WHERE  held.id = ANY ($1::bigint[])
AND    fired.token = held.token
AND    fired.outbox_id = held.id;

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* smsq.Recover */ outbox
SET    lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy'
            AND    retries < 3 THEN true END
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (lease_till) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Recover */
       id
FROM   outbox
WHERE  state = 'busy'
AND    retries >= 3
AND    lease_till <= now()
LIMIT  $1
FOR    UPDATE;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to dead before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* smsq.Recover */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, 'the claim ran out', held.body
FROM   outbox AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/recover_failed_delete_outbox_multipart.sql
-- recover_failed: deletes rows from outbox_multipart for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* smsq.Recover */ FROM outbox_multipart
USING  outbox AS held
WHERE  held.id = ANY ($1::bigint[])
AND    outbox_multipart.outbox_id = held.id;

-- sql/recover_failed_insert_outbox.sql
-- recover_failed: inserts rows into outbox for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* smsq.Recover */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   outbox AS held
WHERE  held.id = ANY ($1::bigint[])
AND    CASE WHEN (held.priority > 5) THEN true END;

-- sql/recover_failed_insert_sentitems.sql
-- recover_failed: inserts rows into sentitems for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* smsq.Recover */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, now(), held.number_to, 'SendingError', 'the claim ran out'
FROM   outbox AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* smsq.Recover */ FROM outbox
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy'
            AND    retries >= 3 THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Priority, 3: new NumberTo, 4: new Body
INSERT /* smsq.Enqueue */ INTO outbox
       (inserted_at, due_at, priority, number_to, body)
VALUES (now(), coalesce($1::timestamptz, now()), coalesce($2::integer, 0), $3, $4)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch DueAt, 2: new_batch Priority, 3: new_batch NumberTo, 4: new_batch Body
INSERT /* smsq.EnqueueMany */ INTO outbox
       (inserted_at, due_at, priority, number_to, body)
SELECT now(), coalesce(due_at_new, now()), coalesce(priority_new, 0), number_to_new,
       body_new
FROM   unnest($1::timestamptz[], $2::integer[], $3::varchar[], $4::text[]) WITH ORDINALITY AS job (due_at_new, priority_new, number_to_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* smsq.Stats */
       count(*) FILTER (WHERE state = 'new' AND due_at <= now()) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'new' AND due_at > now()) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND lease_till <= now()) AS expired,
       extract(epoch FROM now() - min(inserted_at) FILTER (WHERE state = 'new' AND due_at <= now())) AS oldest_ready
FROM   outbox;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority DESC, inserted_at, id, due_at) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Peek */
       id, inserted_at, due_at, retries, priority, number_to, last_error, body
FROM   outbox
WHERE  state = 'new'
AND    due_at <= now()
ORDER  BY priority DESC, inserted_at, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* smsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 9.4'
WHERE  current_setting('server_version_num')::int < 90400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('inserted_at', 'timestamptz'),
               ('due_at', 'timestamptz'),
               ('lease_till', 'timestamptz'),
               ('state', 'varchar'),
               ('token', 'uuid'),
               ('sender', 'varchar'),
               ('retries', 'integer'),
               ('priority', 'integer'),
               ('number_to', 'varchar'),
               ('last_error', 'varchar'),
               ('answer', 'text'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('outbox')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of fired
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('token', 'uuid'),
               ('outbox_id', 'bigint'),
               ('sender', 'varchar'),
               ('at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('fired')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also2.sql
-- verify: columns of sentitems
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('sent_at', 'timestamptz'),
               ('number_to', 'varchar'),
               ('status', 'varchar'),
               ('answer', 'text'),
               ('cause', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('sentitems')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also3.sql
-- verify: columns of outbox_multipart
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('outbox_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('outbox_multipart')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also4.sql
-- verify: columns of totals
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('sent', 'integer'),
               ('sent_at', 'timestamptz'),
               ('state', 'varchar'),
               ('number_to', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('totals')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also5.sql
-- verify: columns of tries
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('outbox_id', 'bigint'),
               ('cause', 'varchar'),
               ('at', 'timestamptz'),
               ('tried', 'boolean'),
               ('tries', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tries')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also6.sql
-- verify: columns of dead
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'varchar'),
               ('retries', 'integer'),
               ('number_to', 'varchar'),
               ('last_error', 'varchar'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('dead')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* smsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* smsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('outbox_sms_ready', 'priority desc, inserted_at, id', 'priority desc, inserted_at, id', 'state=''new'''),
               ('outbox_sms_expired', 'lease_till', 'lease_till', 'state=''busy''')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('outbox')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY outbox_sms_ready ON outbox (priority DESC, inserted_at, id, due_at)
WHERE  state = 'new';

-- serves Recover: claims that ran out; it also serves Claim: reads back the rows that the token marks, among those that somebody has, which are few
CREATE INDEX CONCURRENTLY outbox_sms_expired ON outbox (lease_till)
WHERE  state = 'busy';
