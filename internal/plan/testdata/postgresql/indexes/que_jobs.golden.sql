-- Package quejobsq uses the table que_jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> ready, while tries are left
-- 	held     --Fail------------> failed
-- 	held     --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  column "error_count" is qgen:attempts, which the side table holds, and the row is to stay as it is
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (queue, priority, run_at, job_id)
-- isolation: read committed
-- arguments: 1: param queue string, 2: held Queue, 3: held Priority, 4: held RunAt, 5: held JobID, 6: limit
SELECT /* quejobsq.Claim */
       priority, run_at, job_id, job_class, error_count, queue
FROM   que_jobs
WHERE  error_count < 15
AND    run_at <= now()
AND    queue = $1
AND    (queue, priority, run_at, job_id) NOT IN (SELECT queue_held, priority_held, run_at_held, job_id_held FROM unnest($2::text[], $3::smallint[], $4::timestamptz[], $5::bigint[]) AS job (queue_held, priority_held, run_at_held, job_id_held))
ORDER  BY priority, run_at, queue, job_id
LIMIT  $6
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Queue, 2: batch Priority, 3: batch RunAt, 4: batch JobID
DELETE /* quejobsq.Complete */ FROM que_jobs
USING  unnest($1::text[], $2::smallint[], $3::timestamptz[], $4::bigint[]) AS job (queue_held, priority_held, run_at_held, job_id_held)
WHERE  queue = queue_held
AND    priority = priority_held
AND    run_at = run_at_held
AND    job_id = job_id_held
AND    CASE WHEN error_count < 15
            AND    run_at <= now() THEN true END
RETURNING queue, priority, run_at, job_id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Queue, 3: batch Priority, 4: batch RunAt, 5: batch JobID
UPDATE /* quejobsq.Fail */ que_jobs
SET    run_at = statement_timestamp() + make_interval(secs => $1),
       error_count = error_count + 1
FROM   unnest($2::text[], $3::smallint[], $4::timestamptz[], $5::bigint[]) AS job (queue_held, priority_held, run_at_held, job_id_held)
WHERE  queue = queue_held
AND    priority = priority_held
AND    run_at = run_at_held
AND    job_id = job_id_held
AND    CASE WHEN error_count < 15
            AND    run_at <= now() THEN true END
RETURNING queue_held, priority_held, run_at_held, job_id_held;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Queue, 2: batch Priority, 3: batch RunAt, 4: batch JobID
UPDATE /* quejobsq.Fail */ que_jobs
SET    error_count = error_count + 1
FROM   unnest($1::text[], $2::smallint[], $3::timestamptz[], $4::bigint[]) AS job (queue_held, priority_held, run_at_held, job_id_held)
WHERE  queue = queue_held
AND    priority = priority_held
AND    run_at = run_at_held
AND    job_id = job_id_held
AND    CASE WHEN error_count < 15
            AND    run_at <= now() THEN true END
RETURNING queue, priority, run_at, job_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Queue, 3: batch Priority, 4: batch RunAt, 5: batch JobID
UPDATE /* quejobsq.Requeue */ que_jobs
SET    run_at = CASE WHEN $1 > 0.0 THEN statement_timestamp() + make_interval(secs => $1) ELSE run_at END
FROM   unnest($2::text[], $3::smallint[], $4::timestamptz[], $5::bigint[]) AS job (queue_held, priority_held, run_at_held, job_id_held)
WHERE  queue = queue_held
AND    priority = priority_held
AND    run_at = run_at_held
AND    job_id = job_id_held
AND    CASE WHEN error_count < 15
            AND    run_at <= now() THEN true END
RETURNING queue_held, priority_held, run_at_held, job_id_held;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* quejobsq.Redrive */ picked AS MATERIALIZED (
    SELECT queue, priority, run_at, job_id
    FROM   que_jobs
    WHERE  error_count >= 15
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE que_jobs
SET    error_count = 0
FROM   picked
WHERE  que_jobs.queue = picked.queue
AND    que_jobs.priority = picked.priority
AND    que_jobs.run_at = picked.run_at
AND    que_jobs.job_id = picked.job_id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (queue, priority, run_at, job_id) WHERE error_count >= 15 would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* quejobsq.Purge */ picked AS MATERIALIZED (
    SELECT queue, priority, run_at, job_id
    FROM   que_jobs
    WHERE  error_count >= 15
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM que_jobs
USING  picked
WHERE  que_jobs.queue = picked.queue
AND    que_jobs.priority = picked.priority
AND    que_jobs.run_at = picked.run_at
AND    que_jobs.job_id = picked.job_id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Priority, 2: new RunAt, 3: new JobClass, 4: new Queue
INSERT /* quejobsq.Enqueue */ INTO que_jobs
       (priority, run_at, job_class, queue)
VALUES (coalesce($1::smallint, 100), coalesce($2::timestamptz, now()), $3,
        coalesce($4::text, ''))
RETURNING queue, priority, run_at, job_id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Priority, 2: new_batch RunAt, 3: new_batch JobClass, 4: new_batch Queue
INSERT /* quejobsq.EnqueueMany */ INTO que_jobs
       (priority, run_at, job_class, queue)
SELECT coalesce(priority_new, 100), coalesce(run_at_new, now()), job_class_new,
       coalesce(queue_new, '')
FROM   unnest($1::smallint[], $2::timestamptz[], $3::text[], $4::text[]) WITH ORDINALITY AS job (priority_new, run_at_new, job_class_new, queue_new, job_order)
ORDER  BY job_order
RETURNING queue, priority, run_at, job_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* quejobsq.Stats */
       count(*) FILTER (WHERE error_count < 15 AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE error_count >= 15) AS failed,
       count(*) FILTER (WHERE error_count < 15 AND run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE error_count < 15 AND run_at <= now())) AS oldest_ready
FROM   que_jobs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue is for
-- locks: none
-- index: the primary key (queue, priority, run_at, job_id)
-- arguments: 1: param queue string
SELECT /* quejobsq.StatsOf */
       count(*) FILTER (WHERE error_count < 15 AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE error_count >= 15) AS failed,
       count(*) FILTER (WHERE error_count < 15 AND run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE error_count < 15 AND run_at <= now())) AS oldest_ready
FROM   que_jobs
WHERE  queue = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue
-- locks: none
-- index: none; it reads the whole table
SELECT /* quejobsq.Backlog */
       queue,
       count(*) FILTER (WHERE run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE run_at <= now())) AS oldest_ready
FROM   que_jobs
WHERE  error_count < 15
GROUP  BY queue
ORDER  BY queue;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (queue, priority, run_at, job_id)
-- isolation: read committed
-- arguments: 1: param queue string, 2: limit
SELECT /* quejobsq.Peek */
       priority, run_at, job_id, job_class, error_count, queue
FROM   que_jobs
WHERE  error_count < 15
AND    run_at <= now()
AND    queue = $1
ORDER  BY priority, run_at, queue, job_id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* quejobsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* quejobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('priority', 'smallint'),
               ('run_at', 'timestamptz'),
               ('job_id', 'bigint'),
               ('job_class', 'text'),
               ('error_count', 'integer'),
               ('queue', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('que_jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* quejobsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* quejobsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('que_jobs_pkey', 'queue, priority, run_at, job_id', 'queue, priority, run_at, job_id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('que_jobs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it; those whose tries are spent are few, and are read and passed over: que_jobs_pkey serves already
