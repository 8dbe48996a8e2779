-- Package restsq uses the table rests as a queue of jobs on CockroachDB 25.2 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each; with nil one is never due again. Who wants one to end deletes its row.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "run_at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* restsq.Claim */ rests
SET    run_at = now() + interval '5 minutes',
       ver = ver + 1
WHERE  run_at <= now()
ORDER  BY id
LIMIT  $1
RETURNING id, run_at, ver;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Ver, 3: batch Next
UPDATE /* restsq.Complete */ rests
SET    run_at = run_at_held,
       ver = ver + 1
FROM   unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS job (id_held, ver_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch Ver
UPDATE /* restsq.Fail */ rests
SET    run_at = now() + $1::float8 * interval '1 second',
       ver = ver + 1
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, ver_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch Ver
UPDATE /* restsq.Requeue */ rests
SET    run_at = now() + $1::float8 * interval '1 second',
       ver = ver + 1
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, ver_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Ver
UPDATE /* restsq.Extend */ rests
SET    run_at = now() + interval '5 minutes',
       ver = ver + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, ver_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id, run_at, ver;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* restsq.Enqueue */ INTO rests
       (run_at, ver)
VALUES ($1, 0)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RunAt
INSERT /* restsq.EnqueueMany */ INTO rests
       (run_at, ver)
SELECT run_at_new, 0
FROM   unnest($1::timestamptz[]) WITH ORDINALITY AS job (run_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* restsq.Stats */
       count(*) FILTER (WHERE run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS running,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE run_at <= now())) AS oldest_ready
FROM   rests;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* restsq.Peek */
       id, ver
FROM   rests
WHERE  run_at <= now()
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* restsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* restsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('run_at', 'timestamptz'),
               ('ver', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('rests')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* restsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('rests_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('rests')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: rests_pkey serves already
