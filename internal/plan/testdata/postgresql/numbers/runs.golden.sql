-- Package runsq uses the table runs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready and runs_expired.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "held_till", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'A',
       held_till = floor(extract(epoch FROM now()) + 120)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'N'
           AND    (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due_at, held_till, made, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* runsq.Claim */ runs
SET    state = 'A',
       held_till = floor(extract(epoch FROM now()) + 120)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'N'
           AND    (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due_at, held_till, made, body;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* runsq.Claim */ runs
SET    state = 'A',
       held_till = floor(extract(epoch FROM now()) + 120)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'N'
           AND    (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due_at, held_till, made, body;

-- sql/complete.sql
-- complete: running to done
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldTill
UPDATE /* runsq.Complete */ runs
SET    state = 'D',
       held_till = NULL,
       ended = floor(extract(epoch FROM now()) * 1000)::bigint
FROM   unnest($1::bigint[], $2::numeric[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'F',
       held_till = NULL
FROM   unnest($1::bigint[], $2::numeric[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch HeldTill
UPDATE /* runsq.Requeue */ runs
SET    state = 'N',
       due_at = CASE WHEN $1 > 0.0 THEN floor(extract(epoch FROM now()) + $1)::bigint ELSE due_at END,
       held_till = NULL
FROM   unnest($2::bigint[], $3::numeric[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldTill
UPDATE /* runsq.Extend */ runs
SET    held_till = floor(extract(epoch FROM now()) + 120)::bigint
FROM   unnest($1::bigint[], $2::numeric[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id, held_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (held_till) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'N',
       held_till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'A'
           AND    held_till <= floor(extract(epoch FROM now()))::bigint
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'N',
       held_till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'F'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'D'
           AND    ended <= floor((extract(epoch FROM now()) - $1) * 1000)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'F' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'F'
           AND    made <= floor(extract(epoch FROM now()) - $1)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Body
INSERT /* runsq.Enqueue */ INTO runs
       (due_at, made, body)
VALUES ($1, floor(extract(epoch FROM now()))::bigint, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch DueAt, 2: new_batch Body
INSERT /* runsq.EnqueueMany */ INTO runs
       (due_at, made, body)
SELECT due_at_new, floor(extract(epoch FROM now()))::bigint, body_new
FROM   unnest($1::numeric[], $2::varchar[]) WITH ORDINALITY AS job (due_at_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'N' AND due_at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND held_till <= floor(extract(epoch FROM now()))::bigint) AS expired,
       (floor(extract(epoch FROM now()))::bigint - min(made) FILTER (WHERE state = 'N' AND (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL))) AS oldest_ready
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
SELECT /* runsq.Backlog */
       count(*) FILTER (WHERE (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE due_at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(made) FILTER (WHERE (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL))) AS oldest_ready
FROM   runs
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, due_at, made, body
FROM   runs
WHERE  state = 'N'
AND    (due_at <= floor(extract(epoch FROM now()))::bigint OR due_at IS NULL)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('due_at', 'numeric'),
               ('held_till', 'numeric'),
               ('made', 'double precision'),
               ('ended', 'numeric'),
               ('body', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* runsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('runs_ready', 'id nulls first', 'id nulls first', 'state=''n'''),
               ('runs_expired', 'held_till', 'held_till', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('runs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY runs_ready ON runs (id NULLS FIRST)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY runs_expired ON runs (held_till)
WHERE  state = 'A';
