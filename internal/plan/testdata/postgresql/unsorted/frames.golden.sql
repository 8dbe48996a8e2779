-- Package framesq uses the table frames as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row that waits for its time looks like one that runs: both are hidden by column "run_at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no index is advised: none gives the order of this queue; every claim finds the ready rows by frames_run_at (run_at) and sorts them

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: frames_run_at (run_at); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* framesq.Claim */ frames
SET    run_at = now() + interval '2 seconds'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   frames
           WHERE  run_at <= now()
           ORDER  BY (made + interval '0 s'), id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, run_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: frames_run_at (run_at); the ready rows are then sorted
-- isolation: read committed
UPDATE /* framesq.Claim */ frames
SET    run_at = now() + interval '2 seconds'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   frames
           WHERE  run_at <= now()
           ORDER  BY (made + interval '0 s'), id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, run_at;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: frames_run_at (run_at); the ready rows are then sorted
-- isolation: read committed
UPDATE /* framesq.Claim */ frames
SET    run_at = now() + interval '2 seconds'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   frames
           WHERE  run_at <= now()
           ORDER  BY (made + interval '0 s'), id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, run_at;

-- sql/complete.sql
-- complete: running to done
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch RunAt
DELETE /* framesq.Complete */ FROM frames
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch RunAt
UPDATE /* framesq.Fail */ frames
SET    run_at = now() + make_interval(secs => $1)
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch RunAt
UPDATE /* framesq.Requeue */ frames
SET    run_at = now() + make_interval(secs => $1)
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch RunAt
UPDATE /* framesq.Extend */ frames
SET    run_at = now() + interval '2 seconds'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id, run_at;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Made, 2: new RunAt
INSERT /* framesq.Enqueue */ INTO frames
       (made, run_at)
VALUES ($1, coalesce($2::timestamptz, now()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Made, 2: new_batch RunAt
INSERT /* framesq.EnqueueMany */ INTO frames
       (made, run_at)
SELECT made_new, coalesce(run_at_new, now())
FROM   unnest($1::timestamptz[], $2::timestamptz[]) WITH ORDINALITY AS job (made_new, run_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* framesq.Stats */
       count(*) FILTER (WHERE run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS running,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE run_at <= now())) AS oldest_ready
FROM   frames;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: frames_run_at (run_at); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* framesq.Peek */
       id, made, run_at
FROM   frames
WHERE  run_at <= now()
ORDER  BY (made + interval '0 s'), id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* framesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* framesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('made', 'timestamptz'),
               ('run_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('frames')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* framesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';
