-- Package claimedq uses the table claimed as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- A job never ends: Complete makes it ready again, due after the time that the row has in every. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates claimed_ready and claimed_expired.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, run_at) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* claimedq.Claim */ claimed
SET    state = 'busy',
       since = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   claimed
           WHERE  state = 'new'
           AND    run_at <= (now() AT TIME ZONE 'UTC')
           ORDER  BY id NULLS FIRST
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_at, every::text, since, budget::text;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, run_at) WHERE state = 'new'
-- isolation: read committed
UPDATE /* claimedq.Claim */ claimed
SET    state = 'busy',
       since = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   claimed
           WHERE  state = 'new'
           AND    run_at <= (now() AT TIME ZONE 'UTC')
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_at, every::text, since, budget::text;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, run_at) WHERE state = 'new'
-- isolation: read committed
UPDATE /* claimedq.Claim */ claimed
SET    state = 'busy',
       since = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   claimed
           WHERE  state = 'new'
           AND    run_at <= (now() AT TIME ZONE 'UTC')
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_at, every::text, since, budget::text;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* claimedq.Complete */ claimed
SET    state = 'new',
       run_at = (now() AT TIME ZONE 'UTC') + every,
       since = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Since
UPDATE /* claimedq.Fail */ claimed
SET    state = 'new',
       run_at = (now() AT TIME ZONE 'UTC') + make_interval(secs => $1),
       since = NULL
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Since
UPDATE /* claimedq.Requeue */ claimed
SET    state = 'new',
       run_at = CASE WHEN $1 > 0.0 THEN (now() AT TIME ZONE 'UTC') + make_interval(secs => $1) ELSE run_at END,
       since = NULL
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* claimedq.Extend */ claimed
SET    since = floor(extract(epoch FROM now()))::bigint
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* claimedq.Recover */ claimed
SET    state = 'new',
       since = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   claimed
           WHERE  state = 'busy'
           AND    since <= floor(extract(epoch FROM now() + (-1 * budget)))::bigint
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new Every, 3: new Budget
INSERT /* claimedq.Enqueue */ INTO claimed
       (run_at, every, budget)
VALUES (coalesce($1::timestamp, (now() AT TIME ZONE 'UTC')), $2::text::interval,
        $3::text::interval)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RunAt, 2: new_batch Every, 3: new_batch Budget
INSERT /* claimedq.EnqueueMany */ INTO claimed
       (run_at, every, budget)
SELECT coalesce(run_at_new, (now() AT TIME ZONE 'UTC')), every_new::text::interval,
       budget_new::text::interval
FROM   unnest($1::timestamp[], $2::text[], $3::text[]) WITH ORDINALITY AS job (run_at_new, every_new, budget_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* claimedq.Stats */
       count(*) FILTER (WHERE state = 'new' AND run_at <= (now() AT TIME ZONE 'UTC')) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'new' AND run_at > (now() AT TIME ZONE 'UTC')) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND since <= floor(extract(epoch FROM now() + (-1 * budget)))::bigint) AS expired,
       extract(epoch FROM (now() AT TIME ZONE 'UTC') - min(run_at) FILTER (WHERE state = 'new' AND run_at <= (now() AT TIME ZONE 'UTC'))) AS oldest_ready,
       (floor(extract(epoch FROM now()))::bigint - min(since) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   claimed;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST, run_at) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* claimedq.Peek */
       id, run_at, every::text, budget::text
FROM   claimed
WHERE  state = 'new'
AND    run_at <= (now() AT TIME ZONE 'UTC')
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* claimedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* claimedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('run_at', 'timestamp'),
               ('every', 'interval'),
               ('since', 'bigint'),
               ('budget', 'interval')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('claimed')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* claimedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* claimedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('claimed_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('claimed_expired', 'id', 'id', 'state=''busy''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('claimed')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY claimed_ready ON claimed (id NULLS FIRST, run_at)
WHERE  state = 'new';

-- serves Recover: rows that somebody has
CREATE INDEX CONCURRENTLY claimed_expired ON claimed (id)
WHERE  state = 'busy';
