-- Package putsq uses the table puts as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
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
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in method, args; producers that do not add jobs by Enqueue may still add one beside it
-- note: the index puts_like is declined (indexes: {like: false}): Enqueue reads all rows to which puts_method leads

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* putsq.Claim */ puts
SET    till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   puts
           WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
           AND    id > $1
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, method, args, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: low
UPDATE /* putsq.Claim */ puts
SET    till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   puts
           WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
           AND    id > $1
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, method, args, till;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: low
UPDATE /* putsq.Claim */ puts
SET    till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   puts
           WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
           AND    id > $1
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, method, args, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
DELETE /* putsq.Complete */ FROM puts
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
DELETE /* putsq.Fail */ FROM puts
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
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
UPDATE /* putsq.Requeue */ puts
SET    till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
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
UPDATE /* putsq.Extend */ puts
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING id, till;

-- sql/enqueue_gate.sql
-- enqueue: jobs that are alike in method, args are added one after the other
-- locks: a number made of the table and these columns, and one of the table that producers share, until commit
-- index: none; it reads nothing
-- isolation: read committed
-- arguments: 1: new Method, 2: new Args
SELECT /* putsq.Enqueue */
       1
FROM   pg_advisory_xact_lock('puts'::regclass::oid::int, hashtext('enqueue ' || concat_ws(' ', $1::varchar, $2::text))),
       pg_advisory_xact_lock_shared('puts'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue_alone.sql
-- enqueue: a call with more than 100 jobs adds them while no other producer adds any
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
SELECT /* putsq.EnqueueMany */
       1
FROM   pg_advisory_xact_lock('puts'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in method, args: then it adds none
-- locks: the new row, until commit
-- index: puts_method (method); it reads others as well
-- isolation: read committed
-- arguments: 1: new Method, 2: new Args
INSERT /* putsq.Enqueue */ INTO puts
       (method, args)
SELECT $1::varchar, $2::text
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('rows that are alike are looked for in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END
AND    NOT EXISTS (
           SELECT 1
           FROM   puts
           WHERE  method = $1::varchar
           AND    args = $2::text)
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* putsq.Stats */
       count(*) FILTER (WHERE (till <= now() OR till IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > now()) AS running,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= now()) AS expired
FROM   puts;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: limit
SELECT /* putsq.Peek */
       id, method, args
FROM   puts
WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* putsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* putsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('method', 'varchar'),
               ('args', 'text'),
               ('till', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('puts')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* putsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* putsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('puts_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('puts')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: puts_pkey serves already
