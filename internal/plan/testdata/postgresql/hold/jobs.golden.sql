-- Package jobsq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- Besides the queue's own rows it writes runs (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "last_retry" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: held ID, 2: limit
SELECT /* jobsq.Claim */
       id, tries, last_retry, until, body
FROM   jobs
WHERE  last_retry <= now()
AND    (until > now() OR until IS NULL)
AND    id <> ALL ($1::bigint[])
ORDER  BY id
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done; adds rows to runs
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
WITH /* jobsq.Complete */ held AS (
    DELETE FROM jobs
    WHERE  id = ANY ($1::bigint[])
    AND    CASE WHEN last_retry <= now() THEN true END
    RETURNING id
),
added AS (
    INSERT INTO runs
           (job_id, at)
    SELECT held.id, statement_timestamp()
    FROM   held
)
SELECT id
FROM   held;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* jobsq.Fail */ jobs
SET    tries = tries + 1,
       last_retry = statement_timestamp() + make_interval(secs => $1)
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN last_retry <= now() THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* jobsq.Requeue */ jobs
SET    last_retry = CASE WHEN $1 > 0.0 THEN statement_timestamp() + make_interval(secs => $1) ELSE last_retry END
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN last_retry <= now() THEN true END
RETURNING id;

-- sql/purge_overdue.sql
-- purge_overdue: ready and past its time to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  until <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new LastRetry, 2: new Until, 3: new Body
INSERT /* jobsq.Enqueue */ INTO jobs
       (last_retry, until, body)
VALUES (coalesce($1::timestamptz, now()), $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch LastRetry, 2: new_batch Until, 3: new_batch Body
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (last_retry, until, body)
SELECT coalesce(last_retry_new, now()), until_new, body_new
FROM   unnest($1::timestamptz[], $2::timestamptz[], $3::jsonb[]) WITH ORDINALITY AS job (last_retry_new, until_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE last_retry <= now() AND (until > now() OR until IS NULL)) AS ready,
       count(*) FILTER (WHERE last_retry > now()) AS delayed,
       extract(epoch FROM now() - min(last_retry) FILTER (WHERE last_retry <= now() AND (until > now() OR until IS NULL))) AS oldest_ready
FROM   jobs;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, tries, last_retry, until, body
FROM   jobs
WHERE  last_retry <= now()
AND    (until > now() OR until IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('tries', 'integer'),
               ('last_retry', 'timestamptz'),
               ('until', 'timestamptz'),
               ('body', 'jsonb')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of runs
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('job_id', 'bigint'),
               ('at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* jobsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: jobs_pkey serves already
