-- Package askedq uses the table asked as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates asked_ready.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the count in column "tries" begins anew with every round of a job, so it is no fence; qgen:token or qgen:version is one
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id, run_at) WHERE state = 'N'
-- arguments: 1: worker Holder, 2: limit
UPDATE /* askedq.Claim */ asked
SET    state = 'A',
       tries = tries + 1,
       holder = $1
WHERE  state = 'N'
AND    run_at <= now()
ORDER  BY id
LIMIT  $2
RETURNING id, run_at, tries, holder;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Holder, 3: batch Answer, 4: batch Next
UPDATE /* askedq.Complete */ asked
SET    state = 'N',
       run_at = run_at_held,
       tries = 0,
       holder = NULL,
       answer = answer_held
FROM   unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[]) AS job (id_held, holder_held, answer_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch Holder
UPDATE /* askedq.Fail */ asked
SET    state = 'N',
       run_at = now() + $1::float8 * interval '1 second',
       holder = NULL
FROM   unnest($2::bigint[], $3::text[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Holder
UPDATE /* askedq.Fail */ asked
SET    state = 'E'
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch Holder
UPDATE /* askedq.Requeue */ asked
SET    state = 'N',
       run_at = CASE WHEN $1 > 0.0 THEN now() + $1::float8 * interval '1 second' ELSE run_at END,
       tries = tries - 1,
       holder = NULL
FROM   unnest($2::bigint[], $3::text[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* askedq.Redrive */ asked
SET    state = 'N',
       tries = 0,
       holder = NULL
WHERE  state = 'E'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt
INSERT /* askedq.Enqueue */ INTO asked
       (run_at)
VALUES (coalesce($1::timestamptz, now()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RunAt
INSERT /* askedq.EnqueueMany */ INTO asked
       (run_at)
SELECT coalesce(run_at_new, now())
FROM   unnest($1::timestamptz[]) WITH ORDINALITY AS job (run_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
       count(*) FILTER (WHERE state = 'N' AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'N' AND run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE state = 'N' AND run_at <= now())) AS oldest_ready
FROM   asked;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_at) WHERE state = 'N'
SELECT /* askedq.Backlog */
       count(*) FILTER (WHERE run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE run_at <= now())) AS oldest_ready
FROM   asked
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_at) WHERE state = 'N'
-- arguments: 1: limit
SELECT /* askedq.Peek */
       id, run_at, tries
FROM   asked
WHERE  state = 'N'
AND    run_at <= now()
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* askedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('run_at', 'timestamptz'),
               ('tries', 'bigint'),
               ('holder', 'text'),
               ('answer', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('asked')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* askedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('asked_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('asked')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX asked_ready ON asked (id, run_at)
WHERE  state = 'N';
