-- Package waitsq uses the table waits as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     CockroachDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "since" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "last_at" takes them by their time, and reads none that wait for theirs
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: the primary key (id)
-- arguments: 1: low, 2: limit
UPDATE /* waitsq.Claim */ waits
SET    since = lpad(floor(extract(epoch FROM now()) * 1000)::bigint::text, 14, '0')
WHERE  (since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0') OR since IS NULL)
AND    (last_at <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar OR last_at IS NULL)
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, last_at, since, wait_s;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
DELETE /* waitsq.Complete */ FROM waits
USING  unnest($1::bigint[], $2::varchar[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    since IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* waitsq.Fail */ waits
SET    last_at = lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')::bpchar,
       since = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    since IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* waitsq.Requeue */ waits
SET    since = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    since IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* waitsq.Extend */ waits
SET    since = lpad(floor(extract(epoch FROM now()) * 1000)::bigint::text, 14, '0')
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    since IS NOT NULL THEN true END
RETURNING id, since;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new LastAt, 2: new WaitS
INSERT /* waitsq.Enqueue */ INTO waits
       (last_at, wait_s)
VALUES ($1, coalesce($2::bigint, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch LastAt, 2: new_batch WaitS
INSERT /* waitsq.EnqueueMany */ INTO waits
       (last_at, wait_s)
SELECT last_at_new, coalesce(wait_s_new, 60)
FROM   unnest($1::bpchar[], $2::bigint[]) WITH ORDINALITY AS job (last_at_new, wait_s_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(*) FILTER (WHERE (since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0') OR since IS NULL) AND (last_at <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar OR last_at IS NULL)) AS ready,
       count(*) FILTER (WHERE since IS NOT NULL AND since > lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0')) AS running,
       count(*) FILTER (WHERE last_at > lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar) AS delayed,
       count(*) FILTER (WHERE since IS NOT NULL AND since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0')) AS expired,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - nullif(min(since) FILTER (WHERE since IS NOT NULL AND since > lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0')), '')::bigint) / 1000.0) AS oldest_running
FROM   waits;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       id, last_at, wait_s
FROM   waits
WHERE  (since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0') OR since IS NULL)
AND    (last_at <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar OR last_at IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('last_at', 'char'),
               ('since', 'varchar'),
               ('wait_s', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('waits')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('waits_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('waits')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: waits_pkey serves already
