-- Package stepsq uses the table steps as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of the jobs that are alike in order_id, one runs at once, and in their order: a job is not claimed while one before it is not finished, be it that it runs or waits for its next try; a claim locks the row of tenants that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates steps_ready and steps_group and steps_line.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     YugabyteDB has no locks on numbers
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: the order of a group leaves column "due_at" out, which changes when a job is tried again
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for order_id has it read rows of one group alone
-- note: rows without a value in column "due_at" stand last in the order, where YugabyteDB puts nulls (nulls=first puts them first)
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and the row of tenants for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (due_at, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
WITH /* stepsq.Claim */ candidate AS (
    SELECT *
    FROM   steps
    WHERE  state = 'new'
    AND    (due_at <= now() OR due_at IS NULL)
    AND    CASE WHEN (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'busy'
               LIMIT  1) IS NULL THEN true END
    AND    CASE WHEN steps.id = (SELECT other.id
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'new'
               ORDER  BY other.id
               LIMIT  1) THEN true END
    ORDER  BY due_at, id
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
SELECT candidate.id
FROM   candidate
WHERE  (SELECT 1
               FROM   tenants
               WHERE  id = candidate.order_id
               FOR    NO KEY UPDATE SKIP LOCKED) = 1;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* stepsq.Claim */ steps
SET    state = 'busy',
       tries = tries + 1,
       taken_at = now()
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN (SELECT count(*)
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'busy') = 0
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, order_id, due_at, tries, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* stepsq.Complete */ steps
SET    state = 'over'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Tries
UPDATE /* stepsq.Fail */ steps
SET    state = 'new',
       due_at = now() + make_interval(secs => $1),
       taken_at = NULL
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* stepsq.Fail */ steps
SET    state = 'dead'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Tries
UPDATE /* stepsq.Requeue */ steps
SET    state = 'new',
       due_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE due_at END,
       tries = tries - 1,
       taken_at = NULL
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* stepsq.Extend */ steps
SET    taken_at = now()
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (order_id) WHERE state = 'busy', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Recover */ steps
SET    state = 'new',
       taken_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'busy'
           AND    tries < 5
           AND    taken_at <= now() - interval '10 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (order_id) WHERE state = 'busy', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Recover */ steps
SET    state = 'dead'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'busy'
           AND    tries >= 5
           AND    taken_at <= now() - interval '10 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Redrive */ steps
SET    state = 'new',
       tries = 0,
       taken_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'over'
           AND    taken_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'dead' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'dead'
           AND    taken_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new OrderID, 2: new DueAt
INSERT /* stepsq.Enqueue */ INTO steps
       (order_id, due_at)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch OrderID, 2: new_batch DueAt
INSERT /* stepsq.EnqueueMany */ INTO steps
       (order_id, due_at)
SELECT order_id_new, due_at_new
FROM   unnest($1::integer[], $2::timestamptz[]) WITH ORDINALITY AS job (order_id_new, due_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(*) FILTER (WHERE state = 'new' AND (due_at <= now() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'new' AND due_at > now()) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND taken_at <= now() - interval '10 minutes') AS expired,
       extract(epoch FROM now() - min(due_at) FILTER (WHERE state = 'new' AND (due_at <= now() OR due_at IS NULL))) AS oldest_ready,
       extract(epoch FROM now() - min(taken_at) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (due_at, id) WHERE state = 'new'
SELECT /* stepsq.Backlog */
       count(*) FILTER (WHERE (due_at <= now() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE due_at > now()) AS delayed,
       extract(epoch FROM now() - min(due_at) FILTER (WHERE (due_at <= now() OR due_at IS NULL))) AS oldest_ready
FROM   steps
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (due_at, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       id, order_id, due_at, tries
FROM   steps
WHERE  state = 'new'
AND    (due_at <= now() OR due_at IS NULL)
AND    CASE WHEN (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'busy'
               LIMIT  1) IS NULL THEN true END
AND    CASE WHEN steps.id = (SELECT other.id
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    other.state = 'new'
               ORDER  BY other.id
               LIMIT  1) THEN true END
ORDER  BY due_at, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stepsq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stepsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('order_id', 'integer'),
               ('state', 'text'),
               ('due_at', 'timestamptz'),
               ('tries', 'integer'),
               ('taken_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('steps')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* stepsq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stepsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('steps_ready', 'due_at, id', 'due_at, id', 'state=''new'''),
               ('steps_group', 'order_id', 'order_id', 'state=''busy'''),
               ('steps_line', 'order_id, id', 'order_id, id', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('steps')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX steps_ready ON steps (due_at ASC, id ASC)
WHERE  state = 'new';

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX steps_group ON steps (order_id ASC)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX steps_line ON steps (order_id ASC, id ASC)
WHERE  state = 'new';
