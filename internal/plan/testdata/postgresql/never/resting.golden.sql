-- Package restingq uses the table resting as a queue of jobs on PostgreSQL 15 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* restingq.Claim */ resting
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint,
       ver = ver + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   resting
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    id > $1
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, ver;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: low
UPDATE /* restingq.Claim */ resting
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint,
       ver = ver + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   resting
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    id > $1
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, ver;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: low
UPDATE /* restingq.Claim */ resting
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint,
       ver = ver + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   resting
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    id > $1
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, ver;

-- sql/complete.sql
-- complete: running to done
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Ver
DELETE /* restingq.Complete */ FROM resting
USING  unnest($1::bigint[], $2::bigint[]) AS job (id_held, ver_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Ver
UPDATE /* restingq.Fail */ resting
SET    at = floor(extract(epoch FROM now()) + $1)::bigint,
       ver = ver + 1
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, ver_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Ver
UPDATE /* restingq.Requeue */ resting
SET    at = floor(extract(epoch FROM now()) + $1)::bigint,
       ver = ver + 1
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, ver_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: ver as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Ver
UPDATE /* restingq.Extend */ resting
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint,
       ver = ver + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, ver_held)
WHERE  id = id_held
AND    CASE WHEN ver = ver_held THEN true END
RETURNING id, at, ver;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At
INSERT /* restingq.Enqueue */ INTO resting
       (at, ver)
VALUES ($1, 0)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch At
INSERT /* restingq.EnqueueMany */ INTO resting
       (at, ver)
SELECT at_new, 0
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* restingq.Stats */
       count(*) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint) AS ready,
       count(*) FILTER (WHERE at > floor(extract(epoch FROM now()))::bigint) AS running,
       count(*) FILTER (WHERE at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(at) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint)) AS oldest_ready
FROM   resting;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* restingq.Peek */
       id, ver
FROM   resting
WHERE  at <= floor(extract(epoch FROM now()))::bigint
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* restingq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* restingq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('at', 'bigint'),
               ('ver', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('resting')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* restingq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* restingq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('resting_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('resting')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: resting_pkey serves already
