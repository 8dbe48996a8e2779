-- Package lentq uses the table lent as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready or not as its caller says by worker
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: worker Worker, 2: low, 3: limit
UPDATE /* lentq.Claim */ lent
SET    worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   lent
           WHERE  CASE WHEN worker IS NULL OR worker = $1 THEN true END
           AND    id > $2
           ORDER  BY id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, worker;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: worker Worker, 2: low
UPDATE /* lentq.Claim */ lent
SET    worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   lent
           WHERE  CASE WHEN worker IS NULL OR worker = $1 THEN true END
           AND    id > $2
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, worker;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: worker Worker, 2: low
UPDATE /* lentq.Claim */ lent
SET    worker = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   lent
           WHERE  CASE WHEN worker IS NULL OR worker = $1 THEN true END
           AND    id > $2
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, worker;

-- sql/complete.sql
-- complete: running to done
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
DELETE /* lentq.Complete */ FROM lent
USING  unnest($1::integer[], $2::text[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    worker IS NOT NULL THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
DELETE /* lentq.Fail */ FROM lent
USING  unnest($1::integer[], $2::text[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    worker IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* lentq.Requeue */ lent
SET    worker = NULL
FROM   unnest($1::integer[], $2::text[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    worker IS NOT NULL THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready or not as its caller says by worker
-- locks: nothing that others wait for
-- arguments: 1: new Worker
INSERT /* lentq.Enqueue */ INTO lent
       (worker)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready or not as its caller says by worker, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Worker
INSERT /* lentq.EnqueueMany */ INTO lent
       (worker)
SELECT worker_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (worker_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: worker Worker
SELECT /* lentq.Stats */
       count(*) FILTER (WHERE (worker IS NULL OR worker = $1)) AS ready,
       count(*) FILTER (WHERE worker IS NOT NULL) AS running
FROM   lent;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: worker Worker, 2: limit
SELECT /* lentq.Peek */
       id
FROM   lent
WHERE  CASE WHEN worker IS NULL OR worker = $1 THEN true END
ORDER  BY id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lentq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lentq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'integer'),
               ('worker', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('lent')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* lentq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lentq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('lent_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('lent')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: lent_pkey serves already
