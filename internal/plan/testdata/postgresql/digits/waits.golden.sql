-- Package waitsq uses the table waits as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "since" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "last_at" takes them by their time, and reads none that wait for theirs
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* waitsq.Claim */ waits
SET    since = lpad(floor(extract(epoch FROM now()) * 1000)::bigint::text, 14, '0')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   waits
           WHERE  CASE WHEN since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0') OR since IS NULL THEN true END
           AND    (last_at <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar OR last_at IS NULL)
           AND    id > $1
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, last_at, since, wait_s;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: low
UPDATE /* waitsq.Claim */ waits
SET    since = lpad(floor(extract(epoch FROM now()) * 1000)::bigint::text, 14, '0')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   waits
           WHERE  CASE WHEN since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0') OR since IS NULL THEN true END
           AND    (last_at <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar OR last_at IS NULL)
           AND    id > $1
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, last_at, since, wait_s;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: low
UPDATE /* waitsq.Claim */ waits
SET    since = lpad(floor(extract(epoch FROM now()) * 1000)::bigint::text, 14, '0')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   waits
           WHERE  CASE WHEN since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0') OR since IS NULL THEN true END
           AND    (last_at <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar OR last_at IS NULL)
           AND    id > $1
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, last_at, since, wait_s;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
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
-- isolation: read committed
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
-- isolation: read committed
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
-- isolation: read committed
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
VALUES ($1, coalesce($2::integer, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch LastAt, 2: new_batch WaitS
INSERT /* waitsq.EnqueueMany */ INTO waits
       (last_at, wait_s)
SELECT last_at_new, coalesce(wait_s_new, 60)
FROM   unnest($1::bpchar[], $2::integer[]) WITH ORDINALITY AS job (last_at_new, wait_s_new, job_order)
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
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       id, last_at, wait_s
FROM   waits
WHERE  CASE WHEN since <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - wait_s) * 1000)::bigint, 99999999999999))::text, 14, '0') OR since IS NULL THEN true END
AND    (last_at <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - wait_s)::bigint, 99999999999))::text, 11, '0')::bpchar OR last_at IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

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
               ('wait_s', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('waits')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* waitsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('waits_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('waits')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: waits_pkey serves already
