-- Package messagesq uses the table messages as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        the unique index messages_handle_key lets no two rows have one token, so that it cannot be the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     CockroachDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "taken" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index messages_handle_key lets no two rows have one token: every claim leaves a fresh value in each row
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: the primary key (id)
-- arguments: 1: low, 2: limit
UPDATE /* messagesq.Claim */ messages
SET    handle = replace(gen_random_uuid()::text, '-', ''),
       taken = now()
WHERE  (taken <= now() - interval '30 seconds' OR taken IS NULL)
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, handle, taken, body;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
DELETE /* messagesq.Complete */ FROM messages
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
UPDATE /* messagesq.Fail */ messages
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
UPDATE /* messagesq.Requeue */ messages
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
UPDATE /* messagesq.Extend */ messages
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
INSERT /* messagesq.Enqueue */ INTO messages
       (body)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Body
INSERT /* messagesq.EnqueueMany */ INTO messages
       (body)
SELECT body_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* messagesq.Stats */
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
SELECT /* messagesq.Peek */
       id, body
FROM   messages
WHERE  (taken <= now() - interval '30 seconds' OR taken IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* messagesq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* messagesq.Verify */
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
SELECT /* messagesq.Verify */
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
