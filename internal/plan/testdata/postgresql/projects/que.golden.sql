-- Package queq uses the table que_jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates que_jobs_ready.
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

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (queue, priority, run_at, id) WHERE finished_at IS NULL AND expired_at IS NULL
-- isolation: read committed
-- arguments: 1: param queue string, 2: held ID, 3: limit
SELECT /* queq.Claim */
       priority, run_at, id, job_class, error_count, queue, tags::text
FROM   que_jobs
WHERE  finished_at IS NULL
AND    expired_at IS NULL
AND    run_at <= now()
AND    queue = $1
AND    id <> ALL ($2::bigint[])
ORDER  BY priority, run_at, id
LIMIT  $3
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* queq.Complete */ que_jobs
SET    finished_at = statement_timestamp(),
       expired_at = NULL
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN finished_at IS NULL
            AND    expired_at IS NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* queq.Fail */ que_jobs
SET    run_at = statement_timestamp() + make_interval(secs => $1),
       error_count = error_count + 1
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN finished_at IS NULL
            AND    expired_at IS NULL THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* queq.Fail */ que_jobs
SET    error_count = error_count + 1,
       finished_at = NULL,
       expired_at = statement_timestamp()
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN finished_at IS NULL
            AND    expired_at IS NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* queq.Requeue */ que_jobs
SET    run_at = CASE WHEN $1 > 0.0 THEN statement_timestamp() + make_interval(secs => $1) ELSE run_at END
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN finished_at IS NULL
            AND    expired_at IS NULL THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* queq.Redrive */ que_jobs
SET    error_count = 0,
       finished_at = NULL,
       expired_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   que_jobs
           WHERE  finished_at IS NULL
           AND    expired_at IS NOT NULL
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (finished_at) WHERE finished_at IS NOT NULL AND expired_at IS NULL would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* queq.Purge */ FROM que_jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   que_jobs
           WHERE  finished_at IS NOT NULL
           AND    expired_at IS NULL
           AND    finished_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (expired_at) WHERE finished_at IS NULL AND expired_at IS NOT NULL would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* queq.Purge */ FROM que_jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   que_jobs
           WHERE  finished_at IS NULL
           AND    expired_at IS NOT NULL
           AND    expired_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Priority, 2: new RunAt, 3: new JobClass, 4: new Queue, 5: new Tags
INSERT /* queq.Enqueue */ INTO que_jobs
       (priority, run_at, job_class, queue, tags)
VALUES (coalesce($1::smallint, 100), coalesce($2::timestamptz, now()), $3,
        coalesce($4::text, 'default'), coalesce($5::text::text[], '{}'))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Priority, 2: new_batch RunAt, 3: new_batch JobClass, 4: new_batch Queue, 5: new_batch Tags
INSERT /* queq.EnqueueMany */ INTO que_jobs
       (priority, run_at, job_class, queue, tags)
SELECT coalesce(priority_new, 100), coalesce(run_at_new, now()), job_class_new,
       coalesce(queue_new, 'default'), coalesce(tags_new::text::text[], '{}')
FROM   unnest($1::smallint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS job (priority_new, run_at_new, job_class_new, queue_new, tags_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* queq.Stats */
       count(*) FILTER (WHERE finished_at IS NULL AND expired_at IS NULL AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE finished_at IS NOT NULL AND expired_at IS NULL) AS done,
       count(*) FILTER (WHERE finished_at IS NULL AND expired_at IS NOT NULL) AS failed,
       count(*) FILTER (WHERE finished_at IS NULL AND expired_at IS NULL AND run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE finished_at IS NULL AND expired_at IS NULL AND run_at <= now())) AS oldest_ready
FROM   que_jobs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param queue string
SELECT /* queq.StatsOf */
       count(*) FILTER (WHERE finished_at IS NULL AND expired_at IS NULL AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE finished_at IS NOT NULL AND expired_at IS NULL) AS done,
       count(*) FILTER (WHERE finished_at IS NULL AND expired_at IS NOT NULL) AS failed,
       count(*) FILTER (WHERE finished_at IS NULL AND expired_at IS NULL AND run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE finished_at IS NULL AND expired_at IS NULL AND run_at <= now())) AS oldest_ready
FROM   que_jobs
WHERE  queue = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue
-- locks: none
-- index: (queue, priority, run_at, id) WHERE finished_at IS NULL AND expired_at IS NULL
SELECT /* queq.Backlog */
       queue,
       count(*) FILTER (WHERE run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE run_at <= now())) AS oldest_ready
FROM   que_jobs
WHERE  finished_at IS NULL
AND    expired_at IS NULL
GROUP  BY queue
ORDER  BY queue;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (queue, priority, run_at, id) WHERE finished_at IS NULL AND expired_at IS NULL
-- isolation: read committed
-- arguments: 1: param queue string, 2: limit
SELECT /* queq.Peek */
       priority, run_at, id, job_class, error_count, queue, tags::text
FROM   que_jobs
WHERE  finished_at IS NULL
AND    expired_at IS NULL
AND    run_at <= now()
AND    queue = $1
ORDER  BY priority, run_at, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* queq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* queq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('priority', 'smallint'),
               ('run_at', 'timestamptz'),
               ('id', 'bigint'),
               ('job_class', 'text'),
               ('error_count', 'integer'),
               ('queue', 'text'),
               ('finished_at', 'timestamptz'),
               ('expired_at', 'timestamptz'),
               ('tags', 'text[]')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('que_jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* queq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* queq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('que_jobs_ready', 'queue, priority, run_at, id', 'queue, priority, run_at, id', 'finished_atisnullandexpired_atisnull')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY que_jobs_ready ON que_jobs (queue, priority, run_at, id)
WHERE  finished_at IS NULL
AND    expired_at IS NULL;
