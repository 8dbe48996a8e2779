-- Package guardedq uses the table messages as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy guarded: strategy=guarded is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=guarded is asked for
--   lease_table  strategy=guarded is asked for
--   hold         strategy=guarded is asked for
--   partition    strategy=guarded is asked for
--   returning    strategy=guarded is asked for
--   block        strategy=guarded is asked for
--   token        strategy=guarded is asked for
--   lock_update  strategy=guarded is asked for
--   advisory     strategy=guarded is asked for
-- * guarded      strategy=guarded is asked for
--   pop          strategy=guarded is asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "taken" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index messages_handle_key lets no two rows have one token: every claim leaves a fresh value in each row
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* guardedq.Claim */
       id
FROM   messages
WHERE  (taken <= now() - interval '30 seconds' OR taken IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* guardedq.Claim */ messages
SET    handle = replace(gen_random_uuid()::text, '-', ''),
       taken = now()
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN (taken <= now() - interval '30 seconds' OR taken IS NULL) THEN true END
RETURNING id, handle, taken, body;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
DELETE /* guardedq.Complete */ FROM messages
USING  unnest($1::bigint[], $2::bpchar[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held
            AND    taken IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
UPDATE /* guardedq.Fail */ messages
SET    handle = NULL,
       taken = NULL
FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held
            AND    taken IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
UPDATE /* guardedq.Requeue */ messages
SET    handle = NULL,
       taken = NULL
FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held
            AND    taken IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
UPDATE /* guardedq.Extend */ messages
SET    taken = now()
FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held
            AND    taken IS NOT NULL THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* guardedq.Enqueue */ INTO messages
       (body)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Body
INSERT /* guardedq.EnqueueMany */ INTO messages
       (body)
SELECT body_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* guardedq.Stats */
       count(*) FILTER (WHERE (taken <= now() - interval '30 seconds' OR taken IS NULL)) AS ready,
       count(*) FILTER (WHERE taken IS NOT NULL AND taken > now() - interval '30 seconds') AS running,
       count(*) FILTER (WHERE taken IS NOT NULL AND taken <= now() - interval '30 seconds') AS expired,
       extract(epoch FROM now() - min(taken) FILTER (WHERE taken IS NOT NULL AND taken > now() - interval '30 seconds')) AS oldest_running
FROM   messages;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* guardedq.Peek */
       id, body
FROM   messages
WHERE  (taken <= now() - interval '30 seconds' OR taken IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* guardedq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* guardedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('handle', 'char'),
               ('taken', 'timestamptz'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('messages')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* guardedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('messages_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('messages')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: messages_pkey serves already
