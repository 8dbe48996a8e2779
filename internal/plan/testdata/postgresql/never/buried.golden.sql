-- Package buriedq uses the table buried as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Bury------------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
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
-- note: column "at" is due and lease, so a claim hides the row by moving its due time
-- note: a row that waits for its time looks like one that runs: both are hidden by column "at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the fence compares column "at", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: buried_at (at)
-- isolation: read committed
-- arguments: 1: worker Worker, 2: limit
UPDATE /* buriedq.Claim */ buried
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint,
       worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   buried
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    at <> 2147483647
           ORDER  BY at, id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, worker, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: buried_at (at)
-- isolation: read committed
-- arguments: 1: worker Worker
UPDATE /* buriedq.Claim */ buried
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint,
       worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   buried
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    at <> 2147483647
           ORDER  BY at, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, worker, tries;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: buried_at (at)
-- isolation: read committed
-- arguments: 1: worker Worker
UPDATE /* buriedq.Claim */ buried
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint,
       worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   buried
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    at <> 2147483647
           ORDER  BY at, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, worker, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: at, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker
DELETE /* buriedq.Complete */ FROM buried
USING  unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, at_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held
            AND    worker = worker_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: at, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch At, 4: batch Worker
UPDATE /* buriedq.Fail */ buried
SET    at = floor(extract(epoch FROM now()) + $1)::bigint,
       worker = NULL,
       tries = tries + 1
FROM   unnest($2::bigint[], $3::bigint[], $4::text[]) AS job (id_held, at_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held
            AND    worker = worker_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch At, 4: batch Worker
UPDATE /* buriedq.Requeue */ buried
SET    at = floor(extract(epoch FROM now()) + $1)::bigint,
       worker = NULL
FROM   unnest($2::bigint[], $3::bigint[], $4::text[]) AS job (id_held, at_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held
            AND    worker = worker_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker
UPDATE /* buriedq.Extend */ buried
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, at_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held
            AND    worker = worker_held THEN true END
RETURNING id, at;

-- sql/outcome_bury.sql
-- outcome_bury: running to ready
-- fence: at, worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker
UPDATE /* buriedq.Bury */ buried
SET    at = 2147483647,
       worker = NULL
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, at_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held
            AND    worker = worker_held THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At
INSERT /* buriedq.Enqueue */ INTO buried
       (at)
VALUES (coalesce($1::bigint, floor(extract(epoch FROM now()))::bigint))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch At
INSERT /* buriedq.EnqueueMany */ INTO buried
       (at)
SELECT coalesce(at_new, floor(extract(epoch FROM now()))::bigint)
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buriedq.Stats */
       count(*) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint) AS ready,
       count(*) FILTER (WHERE at > floor(extract(epoch FROM now()))::bigint) AS running,
       count(*) FILTER (WHERE at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(at) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint)) AS oldest_ready
FROM   buried
WHERE  at <> 2147483647;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: buried_at (at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* buriedq.Peek */
       id, at, tries
FROM   buried
WHERE  at <= floor(extract(epoch FROM now()))::bigint
AND    at <> 2147483647
ORDER  BY at, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buriedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buriedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('at', 'bigint'),
               ('worker', 'text'),
               ('tries', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('buried')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* buriedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buriedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('buried_at', 'at', 'at', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('buried')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows of one at are sorted by the key: buried_at serves already
