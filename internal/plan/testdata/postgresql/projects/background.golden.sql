-- Package backgroundq uses the table background_task as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates background_task_ready.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "locked_at" says which rows run (expired=claim)
-- note: a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)
-- note: a row whose column "queue" is null is taken only by a claim for every topic; any=null lets it suit everyone

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, run_at, id, queue) WHERE failed_at IS NULL AND attempts < 25
-- isolation: read committed
-- arguments: 1: worker LockedBy, 2: param queue *string, 3: limit
UPDATE /* backgroundq.Claim */ background_task
SET    locked_by = $1,
       locked_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   background_task
           WHERE  failed_at IS NULL
           AND    (locked_at <= now() - interval '1 hour' OR locked_at IS NULL)
           AND    run_at <= now()
           AND    attempts < 25
           AND    ($2::varchar IS NULL OR queue = $2)
           ORDER  BY priority DESC, run_at, id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, task_name, task_params, priority, run_at, queue, attempts, last_error,
          locked_by, locked_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, run_at, id, queue) WHERE failed_at IS NULL AND attempts < 25
-- isolation: read committed
-- arguments: 1: worker LockedBy, 2: param queue *string
UPDATE /* backgroundq.Claim */ background_task
SET    locked_by = $1,
       locked_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   background_task
           WHERE  failed_at IS NULL
           AND    (locked_at <= now() - interval '1 hour' OR locked_at IS NULL)
           AND    run_at <= now()
           AND    attempts < 25
           AND    ($2::varchar IS NULL OR queue = $2)
           ORDER  BY priority DESC, run_at, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, task_name, task_params, priority, run_at, queue, attempts, last_error,
          locked_by, locked_at;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, run_at, id, queue) WHERE failed_at IS NULL AND attempts < 25
-- isolation: read committed
-- arguments: 1: worker LockedBy, 2: param queue *string
UPDATE /* backgroundq.Claim */ background_task
SET    locked_by = $1,
       locked_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   background_task
           WHERE  failed_at IS NULL
           AND    (locked_at <= now() - interval '1 hour' OR locked_at IS NULL)
           AND    run_at <= now()
           AND    attempts < 25
           AND    ($2::varchar IS NULL OR queue = $2)
           ORDER  BY priority DESC, run_at, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, task_name, task_params, priority, run_at, queue, attempts, last_error,
          locked_by, locked_at;

-- sql/complete.sql
-- complete: running to done
-- fence: locked_at, locked_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch LockedAt, 3: batch LockedBy
DELETE /* backgroundq.Complete */ FROM background_task
USING  unnest($1::integer[], $2::timestamptz[], $3::varchar[]) AS job (id_held, locked_at_held, locked_by_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    locked_by = locked_by_held
            AND    failed_at IS NULL
            AND    locked_at IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: locked_at, locked_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch ID, 4: batch LockedAt, 5: batch LockedBy
UPDATE /* backgroundq.Fail */ background_task
SET    run_at = now() + make_interval(secs => $1),
       attempts = attempts + 1,
       last_error = $2,
       locked_by = NULL,
       locked_at = NULL
FROM   unnest($3::integer[], $4::timestamptz[], $5::varchar[]) AS job (id_held, locked_at_held, locked_by_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    locked_by = locked_by_held
            AND    failed_at IS NULL
            AND    locked_at IS NOT NULL THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: locked_at, locked_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch LockedAt, 4: batch LockedBy
UPDATE /* backgroundq.Fail */ background_task
SET    attempts = attempts + 1,
       failed_at = now(),
       last_error = $1
FROM   unnest($2::integer[], $3::timestamptz[], $4::varchar[]) AS job (id_held, locked_at_held, locked_by_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    locked_by = locked_by_held
            AND    failed_at IS NULL
            AND    locked_at IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: locked_at, locked_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch LockedAt, 4: batch LockedBy
UPDATE /* backgroundq.Requeue */ background_task
SET    run_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE run_at END,
       locked_by = NULL,
       locked_at = NULL
FROM   unnest($2::integer[], $3::timestamptz[], $4::varchar[]) AS job (id_held, locked_at_held, locked_by_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    locked_by = locked_by_held
            AND    failed_at IS NULL
            AND    locked_at IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: locked_at, locked_by as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch LockedAt, 3: batch LockedBy
UPDATE /* backgroundq.Extend */ background_task
SET    locked_at = now()
FROM   unnest($1::integer[], $2::timestamptz[], $3::varchar[]) AS job (id_held, locked_at_held, locked_by_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    locked_by = locked_by_held
            AND    failed_at IS NULL
            AND    locked_at IS NOT NULL THEN true END
RETURNING id, locked_at;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* backgroundq.Redrive */ background_task
SET    attempts = 0,
       failed_at = NULL,
       locked_by = NULL,
       locked_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   background_task
           WHERE  failed_at IS NOT NULL
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (failed_at) WHERE failed_at IS NOT NULL would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* backgroundq.Purge */ FROM background_task
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   background_task
           WHERE  failed_at IS NOT NULL
           AND    failed_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new TaskName, 2: new TaskParams, 3: new Priority, 4: new RunAt, 5: new Queue
INSERT /* backgroundq.Enqueue */ INTO background_task
       (task_name, task_params, priority, run_at, queue, attempts, last_error)
VALUES ($1, $2, $3, coalesce($4::timestamptz, now()), $5, 0, '')
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch TaskName, 2: new_batch TaskParams, 3: new_batch Priority, 4: new_batch RunAt, 5: new_batch Queue
INSERT /* backgroundq.EnqueueMany */ INTO background_task
       (task_name, task_params, priority, run_at, queue, attempts, last_error)
SELECT task_name_new, task_params_new, priority_new, coalesce(run_at_new, now()),
       queue_new, 0, ''
FROM   unnest($1::varchar[], $2::text[], $3::integer[], $4::timestamptz[],
              $5::varchar[]) WITH ORDINALITY AS job (task_name_new, task_params_new, priority_new, run_at_new, queue_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* backgroundq.Stats */
       count(*) FILTER (WHERE failed_at IS NULL AND (locked_at <= now() - interval '1 hour' OR locked_at IS NULL) AND run_at <= now() AND attempts < 25) AS ready,
       count(*) FILTER (WHERE failed_at IS NULL AND locked_at IS NOT NULL AND locked_at > now() - interval '1 hour') AS running,
       count(*) FILTER (WHERE failed_at IS NOT NULL) AS failed,
       count(*) FILTER (WHERE failed_at IS NULL AND attempts < 25 AND run_at > now()) AS delayed,
       count(*) FILTER (WHERE failed_at IS NULL AND locked_at IS NOT NULL AND locked_at <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE failed_at IS NULL AND (locked_at <= now() - interval '1 hour' OR locked_at IS NULL) AND run_at <= now() AND attempts < 25)) AS oldest_ready,
       extract(epoch FROM now() - min(locked_at) FILTER (WHERE failed_at IS NULL AND locked_at IS NOT NULL AND locked_at > now() - interval '1 hour')) AS oldest_running
FROM   background_task;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param queue *string
SELECT /* backgroundq.StatsOf */
       count(*) FILTER (WHERE failed_at IS NULL AND (locked_at <= now() - interval '1 hour' OR locked_at IS NULL) AND run_at <= now() AND attempts < 25) AS ready,
       count(*) FILTER (WHERE failed_at IS NULL AND locked_at IS NOT NULL AND locked_at > now() - interval '1 hour') AS running,
       count(*) FILTER (WHERE failed_at IS NOT NULL) AS failed,
       count(*) FILTER (WHERE failed_at IS NULL AND attempts < 25 AND run_at > now()) AS delayed,
       count(*) FILTER (WHERE failed_at IS NULL AND locked_at IS NOT NULL AND locked_at <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE failed_at IS NULL AND (locked_at <= now() - interval '1 hour' OR locked_at IS NULL) AND run_at <= now() AND attempts < 25)) AS oldest_ready,
       extract(epoch FROM now() - min(locked_at) FILTER (WHERE failed_at IS NULL AND locked_at IS NOT NULL AND locked_at > now() - interval '1 hour')) AS oldest_running
FROM   background_task
WHERE  ($1::varchar IS NULL OR queue = $1);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue
-- locks: none
-- index: (priority DESC, run_at, id, queue) WHERE failed_at IS NULL AND attempts < 25
SELECT /* backgroundq.Backlog */
       queue,
       count(*) FILTER (WHERE (locked_at <= now() - interval '1 hour' OR locked_at IS NULL) AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE (locked_at <= now() - interval '1 hour' OR locked_at IS NULL) AND run_at <= now())) AS oldest_ready
FROM   background_task
WHERE  failed_at IS NULL
AND    attempts < 25
GROUP  BY queue
HAVING count(*) FILTER (WHERE (locked_at <= now() - interval '1 hour' OR locked_at IS NULL) AND run_at <= now()) > 0
OR     count(*) FILTER (WHERE run_at > now()) > 0
ORDER  BY queue;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority DESC, run_at, id, queue) WHERE failed_at IS NULL AND attempts < 25
-- isolation: read committed
-- arguments: 1: param queue *string, 2: limit
SELECT /* backgroundq.Peek */
       id, task_name, task_params, priority, run_at, queue, attempts, last_error
FROM   background_task
WHERE  failed_at IS NULL
AND    (locked_at <= now() - interval '1 hour' OR locked_at IS NULL)
AND    run_at <= now()
AND    attempts < 25
AND    ($1::varchar IS NULL OR queue = $1)
ORDER  BY priority DESC, run_at, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* backgroundq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* backgroundq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'integer'),
               ('task_name', 'varchar'),
               ('task_params', 'text'),
               ('priority', 'integer'),
               ('run_at', 'timestamptz'),
               ('queue', 'varchar'),
               ('attempts', 'integer'),
               ('failed_at', 'timestamptz'),
               ('last_error', 'text'),
               ('locked_by', 'varchar'),
               ('locked_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('background_task')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* backgroundq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* backgroundq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('background_task_ready', 'priority desc, run_at, id', 'priority desc, run_at, id', 'failed_atisnullandattempts<25')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('background_task')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it; rows of another queue are passed over in it
CREATE INDEX CONCURRENTLY background_task_ready ON background_task (priority DESC, run_at, id, queue)
WHERE  failed_at IS NULL
AND    attempts < 25;
