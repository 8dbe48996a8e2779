-- Package locksq uses the table email_outbox as a queue of jobs on CockroachDB 24.2.3 and later.
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
-- Jobs are claimed by the strategy lock_update: strategy=lock_update is asked for.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates email_outbox_ready and email_outbox_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=lock_update is asked for
--   lease_table  strategy=lock_update is asked for
--   hold         strategy=lock_update is asked for
--   partition    strategy=lock_update is asked for
--   returning    strategy=lock_update is asked for
--   block        strategy=lock_update is asked for
--   token        strategy=lock_update is asked for
-- * lock_update  strategy=lock_update is asked for
--   advisory     strategy=lock_update is asked for
--   guarded      strategy=lock_update is asked for
--   pop          strategy=lock_update is asked for
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
-- arguments: 1: param kind string, 2: limit
SELECT /* locksq.Claim */
       msg_id
FROM   email_outbox
WHERE  state = 'N'
AND    (not_before <= now() OR not_before IS NULL)
AND    kind = $1
ORDER  BY priority DESC, created_at, msg_id
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- arguments: 1: worker Reader, 2: batch MsgID
UPDATE /* locksq.Claim */ email_outbox
SET    state = 'A',
       lease_till = now() + interval '5 minutes',
       reader = $1,
       tries = tries + 1
WHERE  msg_id = ANY ($2::bigint[])
RETURNING msg_id, kind, priority, created_at, not_before, lease_till, reader, tries,
          last_error, body;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch MsgID, 2: batch Tries, 3: batch Reader
UPDATE /* locksq.Complete */ email_outbox
SET    state = 'C',
       lease_till = NULL
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch MsgID, 4: batch Tries, 5: batch Reader
UPDATE /* locksq.Fail */ email_outbox
SET    state = 'N',
       not_before = now() + $1::float8 * interval '1 second',
       lease_till = NULL,
       reader = NULL,
       last_error = $2
FROM   unnest($3::bigint[], $4::bigint[], $5::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch MsgID, 3: batch Tries, 4: batch Reader
UPDATE /* locksq.Fail */ email_outbox
SET    state = 'E',
       lease_till = NULL,
       last_error = $1
FROM   unnest($2::bigint[], $3::bigint[], $4::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch MsgID, 3: batch Tries, 4: batch Reader
UPDATE /* locksq.Requeue */ email_outbox
SET    state = 'N',
       not_before = CASE WHEN $1 > 0.0 THEN now() + $1::float8 * interval '1 second' ELSE not_before END,
       lease_till = NULL,
       reader = NULL,
       tries = tries - 1
FROM   unnest($2::bigint[], $3::bigint[], $4::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch MsgID, 2: batch Tries, 3: batch Reader
UPDATE /* locksq.Extend */ email_outbox
SET    lease_till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (lease_till) WHERE state = 'A'
-- arguments: 1: limit
UPDATE /* locksq.Recover */ email_outbox
SET    state = 'N',
       lease_till = NULL,
       reader = NULL
WHERE  state = 'A'
AND    tries < 5
AND    lease_till <= now()
LIMIT  $1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (lease_till) WHERE state = 'A'
-- arguments: 1: limit
UPDATE /* locksq.Recover */ email_outbox
SET    state = 'E',
       lease_till = NULL,
       last_error = 'the claim ran out'
WHERE  state = 'A'
AND    tries >= 5
AND    lease_till <= now()
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* locksq.Redrive */ email_outbox
SET    state = 'N',
       lease_till = NULL,
       reader = NULL,
       tries = 0
WHERE  state = 'E'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (created_at) WHERE state = 'C' would find them
-- arguments: 1: older, 2: limit
DELETE /* locksq.Purge */ FROM email_outbox
WHERE  state = 'C'
AND    created_at <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (created_at) WHERE state = 'E' would find them
-- arguments: 1: older, 2: limit
DELETE /* locksq.Purge */ FROM email_outbox
WHERE  state = 'E'
AND    created_at <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new NotBefore, 4: new Body
INSERT /* locksq.Enqueue */ INTO email_outbox
       (kind, priority, created_at, not_before, body)
VALUES ($1, coalesce($2::bigint, 0), now(), $3, $4)
RETURNING msg_id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Kind, 2: new_batch Priority, 3: new_batch NotBefore, 4: new_batch Body
INSERT /* locksq.EnqueueMany */ INTO email_outbox
       (kind, priority, created_at, not_before, body)
SELECT kind_new, coalesce(priority_new, 0), now(), not_before_new, body_new
FROM   unnest($1::varchar[], $2::bigint[], $3::timestamptz[], $4::jsonb[]) WITH ORDINALITY AS job (kind_new, priority_new, not_before_new, body_new, job_order)
ORDER  BY job_order
RETURNING msg_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* locksq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'C') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'N' AND not_before > now()) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND lease_till <= now()) AS expired,
       extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* locksq.StatsOf */
       count(*) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'C') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'N' AND not_before > now()) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND lease_till <= now()) AS expired,
       extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox
WHERE  kind = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
SELECT /* locksq.Backlog */
       kind,
       count(*) FILTER (WHERE (not_before <= now() OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE not_before > now()) AS delayed,
       extract(epoch FROM now() - min(created_at) FILTER (WHERE (not_before <= now() OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox
WHERE  state = 'N'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
-- arguments: 1: param kind string, 2: limit
SELECT /* locksq.Peek */
       msg_id, kind, priority, created_at, not_before, tries, last_error, body
FROM   email_outbox
WHERE  state = 'N'
AND    (not_before <= now() OR not_before IS NULL)
AND    kind = $1
ORDER  BY priority DESC, created_at, msg_id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* locksq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 24.2.3'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* locksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('msg_id', 'bigint'),
               ('state', 'char'),
               ('kind', 'varchar'),
               ('priority', 'bigint'),
               ('created_at', 'timestamptz'),
               ('not_before', 'timestamptz'),
               ('lease_till', 'timestamptz'),
               ('reader', 'text'),
               ('tries', 'bigint'),
               ('last_error', 'text'),
               ('body', 'jsonb')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('email_outbox')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* locksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('email_outbox_ready'),
               ('email_outbox_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('email_outbox')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
-- emailq advises the same
CREATE INDEX email_outbox_ready ON email_outbox (kind, priority DESC, created_at, msg_id)
WHERE  state = 'N';

-- serves Recover: claims that ran out
-- emailq advises the same
CREATE INDEX email_outbox_expired ON email_outbox (lease_till)
WHERE  state = 'A';
