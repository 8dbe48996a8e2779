-- Package sortedq uses the table tasks as a queue of jobs on PostgreSQL 12 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows that are alike in column "run_at" are taken as the index tasks_main has them: in the order of the key as well, PostgreSQL would sort all ready rows for each claim
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: tasks_main (priority, run_at) WHERE available
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sortedq.Claim */ tasks
SET    available = false,
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  available = true
           AND    run_at <= now()
           ORDER  BY priority, run_at
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, priority, run_at, since;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: tasks_main (priority, run_at) WHERE available
-- isolation: read committed
UPDATE /* sortedq.Claim */ tasks
SET    available = false,
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  available = true
           AND    run_at <= now()
           ORDER  BY priority, run_at
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, priority, run_at, since;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: tasks_main (priority, run_at) WHERE available
-- isolation: read committed
UPDATE /* sortedq.Claim */ tasks
SET    available = false,
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  available = true
           AND    run_at <= now()
           ORDER  BY priority, run_at
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, priority, run_at, since;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
DELETE /* sortedq.Complete */ FROM tasks
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    available = false THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
DELETE /* sortedq.Fail */ FROM tasks
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    available = false THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Since
UPDATE /* sortedq.Requeue */ tasks
SET    run_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE run_at END,
       available = true,
       since = NULL
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    available = false THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* sortedq.Extend */ tasks
SET    since = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    available = false THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (since) WHERE available = false
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sortedq.Recover */ tasks
SET    available = true,
       since = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  available = false
           AND    since <= now() - interval '4 hours'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Priority, 2: new RunAt
INSERT /* sortedq.Enqueue */ INTO tasks
       (priority, run_at)
VALUES (coalesce($1::smallint, 0), coalesce($2::timestamptz, now()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Priority, 2: new_batch RunAt
INSERT /* sortedq.EnqueueMany */ INTO tasks
       (priority, run_at)
SELECT coalesce(priority_new, 0), coalesce(run_at_new, now())
FROM   unnest($1::smallint[], $2::timestamptz[]) WITH ORDINALITY AS job (priority_new, run_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sortedq.Stats */
       count(*) FILTER (WHERE available = true AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE available = false) AS running,
       count(*) FILTER (WHERE available = true AND run_at > now()) AS delayed,
       count(*) FILTER (WHERE available = false AND since <= now() - interval '4 hours') AS expired,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE available = true AND run_at <= now())) AS oldest_ready,
       extract(epoch FROM now() - min(since) FILTER (WHERE available = false)) AS oldest_running
FROM   tasks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: tasks_main (priority, run_at) WHERE available
-- isolation: read committed
-- arguments: 1: limit
SELECT /* sortedq.Peek */
       id, priority, run_at
FROM   tasks
WHERE  available = true
AND    run_at <= now()
ORDER  BY priority, run_at
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sortedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 12'
WHERE  current_setting('server_version_num')::int < 120000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* sortedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('priority', 'smallint'),
               ('run_at', 'timestamptz'),
               ('available', 'boolean'),
               ('since', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* sortedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sortedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_main', 'priority, run_at', 'priority, run_at', 'available'),
               ('tasks_expired', 'since', 'since', 'available=false')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('tasks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it: tasks_main serves already

-- serves Recover: claims that ran out
-- tasksq advises the same
CREATE INDEX CONCURRENTLY tasks_expired ON tasks (since)
WHERE  available = false;
