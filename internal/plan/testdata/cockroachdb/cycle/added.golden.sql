-- Package addedq uses the table added as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- A job never ends: Complete makes it ready again, due after the time that the row adds to ran_at. Who wants one to end deletes its row.
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
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     CockroachDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "ran_at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* addedq.Claim */ added
SET    till = floor(extract(epoch FROM now()) + 300)::bigint
WHERE  (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL)
AND    (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)
ORDER  BY id
LIMIT  $1
RETURNING id, ran_at, till, wait_s;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Complete */ added
SET    ran_at = floor(extract(epoch FROM now()))::bigint,
       till = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Fail */ added
SET    ran_at = floor(extract(epoch FROM now()))::bigint,
       till = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Requeue */ added
SET    till = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Extend */ added
SET    till = floor(extract(epoch FROM now()) + 300)::bigint
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id, till;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RanAt, 2: new WaitS
INSERT /* addedq.Enqueue */ INTO added
       (ran_at, wait_s)
VALUES ($1, coalesce($2::bigint, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RanAt, 2: new_batch WaitS
INSERT /* addedq.EnqueueMany */ INTO added
       (ran_at, wait_s)
SELECT ran_at_new, coalesce(wait_s_new, 60)
FROM   unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS job (ran_at_new, wait_s_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* addedq.Stats */
       count(*) FILTER (WHERE (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL) AND (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > floor(extract(epoch FROM now()))::bigint) AS running,
       count(*) FILTER (WHERE ran_at > floor(extract(epoch FROM now()) - wait_s)::bigint) AS delayed,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= floor(extract(epoch FROM now()))::bigint) AS expired
FROM   added;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* addedq.Peek */
       id, ran_at, wait_s
FROM   added
WHERE  (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL)
AND    (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* addedq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* addedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('ran_at', 'bigint'),
               ('till', 'bigint'),
               ('wait_s', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('added')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* addedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('added_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('added')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: added_pkey serves already
