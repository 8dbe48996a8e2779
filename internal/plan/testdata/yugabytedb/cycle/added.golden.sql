-- Package addedq uses the table added as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- A job never ends: Complete makes it ready again, due after the time that the row adds to ran_at. Who wants one to end deletes its row.
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
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     YugabyteDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "ran_at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* addedq.Claim */ added
SET    till = floor(extract(epoch FROM now()) + 300)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   added
           WHERE  (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL)
           AND    (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)
           ORDER  BY id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, ran_at, till, wait_s;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
UPDATE /* addedq.Claim */ added
SET    till = floor(extract(epoch FROM now()) + 300)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   added
           WHERE  (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL)
           AND    (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, ran_at, till, wait_s;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
UPDATE /* addedq.Claim */ added
SET    till = floor(extract(epoch FROM now()) + 300)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   added
           WHERE  (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL)
           AND    (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, ran_at, till, wait_s;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Complete */ added
SET    ran_at = floor(extract(epoch FROM now()))::bigint,
       till = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Fail */ added
SET    ran_at = floor(extract(epoch FROM now()))::bigint,
       till = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Requeue */ added
SET    till = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* addedq.Extend */ added
SET    till = floor(extract(epoch FROM now()) + 300)::bigint
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id, till;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RanAt, 2: new WaitS
INSERT /* addedq.Enqueue */ INTO added
       (ran_at, wait_s)
VALUES ($1, coalesce($2::integer, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RanAt, 2: new_batch WaitS
INSERT /* addedq.EnqueueMany */ INTO added
       (ran_at, wait_s)
SELECT ran_at_new, coalesce(wait_s_new, 60)
FROM   unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS job (ran_at_new, wait_s_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* addedq.Stats */
       count(*) FILTER (WHERE (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL) AND (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > floor(extract(epoch FROM now()))::bigint) AS running,
       count(*) FILTER (WHERE ran_at > floor(extract(epoch FROM now()) - wait_s)::bigint) AS delayed,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= floor(extract(epoch FROM now()))::bigint) AS expired
FROM   added;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* addedq.Peek */
       id, ran_at, wait_s
FROM   added
WHERE  (till <= floor(extract(epoch FROM now()))::bigint OR till IS NULL)
AND    (ran_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR ran_at IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* addedq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* addedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('ran_at', 'bigint'),
               ('till', 'bigint'),
               ('wait_s', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('added')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* addedq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* addedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('added_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('added')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: added_pkey serves already
