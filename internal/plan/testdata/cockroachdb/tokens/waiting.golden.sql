-- Package waitingq uses the tables waiting and active as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to active, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates active_waiting_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to active, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index active_handle_key lets no two rows have one token: every claim leaves a fresh value in each row
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running, from waiting to active
-- locks: the rows it moves, until commit; of two that meet one is undone and made again
-- index: the primary key (id)
-- arguments: 1: limit
WITH /* waitingq.Claim */ gone AS (
    DELETE FROM waiting
    ORDER  BY id
    LIMIT  $1
    RETURNING waiting.id, waiting.body
)
INSERT INTO active
       (id, body, handle, taken)
SELECT gone.id, gone.body, gen_random_uuid()::uuid, now()
FROM   gone
RETURNING id, body, handle, taken;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
DELETE /* waitingq.Complete */ FROM active
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held THEN true END
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
SELECT /* waitingq.Fail */
       id
FROM   active,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held THEN true END
FOR    UPDATE OF active;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to waiting before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Handle
INSERT /* waitingq.Fail */ INTO waiting
       (id, body)
SELECT held.id, held.body
FROM   active AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  held.id = id_held
AND    CASE WHEN held.handle = handle_held THEN true END;

-- sql/retry.sql
-- retry: running to ready
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
DELETE /* waitingq.Fail */ FROM active
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held THEN true END
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
SELECT /* waitingq.Requeue */
       id
FROM   active,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held THEN true END
FOR    UPDATE OF active;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to waiting before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Handle
INSERT /* waitingq.Requeue */ INTO waiting
       (id, body)
SELECT held.id, held.body
FROM   active AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  held.id = id_held
AND    CASE WHEN held.handle = handle_held THEN true END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
DELETE /* waitingq.Requeue */ FROM active
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Handle
UPDATE /* waitingq.Extend */ active
SET    taken = now()
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, handle_held)
WHERE  id = id_held
AND    CASE WHEN handle = handle_held THEN true END
RETURNING id;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (taken)
-- arguments: 1: limit
SELECT /* waitingq.Recover */
       id
FROM   active
WHERE  taken <= now() - interval '30 seconds'
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to waiting before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
INSERT /* waitingq.Recover */ INTO waiting
       (id, body)
SELECT held.id, held.body
FROM   active AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DELETE /* waitingq.Recover */ FROM active
WHERE  id = ANY ($1::bigint[])
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* waitingq.Enqueue */ INTO waiting
       (body)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Body
INSERT /* waitingq.EnqueueMany */ INTO waiting
       (body)
SELECT body_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* waitingq.Stats */
       ready,
       running,
       expired,
       oldest_running
FROM   (
           SELECT count(*) AS ready
           FROM   waiting
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(*) FILTER (WHERE taken <= now() - interval '30 seconds') AS expired,
                  extract(epoch FROM now() - min(taken)) AS oldest_running
           FROM   active
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* waitingq.Peek */
       id, body
FROM   waiting
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitingq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitingq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('body', 'text'),
               ('handle', 'uuid'),
               ('taken', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('active')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_ready.sql
-- verify: columns of waiting
-- locks: none
SELECT /* waitingq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('waiting')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index_ready.sql
-- verify: index of waiting
-- locks: none
SELECT /* waitingq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('waiting_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('waiting')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitingq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('active_waiting_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('active')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: waiting_pkey serves already

-- serves Recover: claims that ran out
CREATE INDEX active_waiting_expired ON active (taken);
