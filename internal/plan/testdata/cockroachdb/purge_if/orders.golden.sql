-- Package ordersq uses the table orders as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	purge_if --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes parts (Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates orders_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE state = 0 AND kind = 'mail'
-- arguments: 1: low, 2: limit
UPDATE /* ordersq.Claim */ orders
SET    state = 2
WHERE  state = 0
AND    (kind = 'mail')
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, kind;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* ordersq.Complete */ orders
SET    state = 1
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 2 THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* ordersq.Fail */ orders
SET    state = 3
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 2 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* ordersq.Requeue */ orders
SET    state = 0
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 2 THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* ordersq.Redrive */ orders
SET    state = 0
WHERE  state = 3
AND    (kind = 'mail')
LIMIT  $1;

-- sql/purge_lock.sql
-- purge: locks rows, which purge.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: whichever finds the rows of purge_if
-- arguments: 1: param state int, 2: limit
SELECT /* ordersq.Purge */
       id
FROM   orders
WHERE  (state in ($1, 3))
AND    (kind = 'mail')
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/purge_delete_parts.sql
-- purge: deletes rows from parts for the rows that purge_lock.sql locked, before purge.sql
-- locks: the rows it writes, until commit
-- index: the key; of parts one that begins with order_id
-- arguments: 1: batch ID
DELETE /* ordersq.Purge */ FROM parts
USING  orders AS held
WHERE  held.id = ANY ($1::bigint[])
AND    parts.order_id = held.id;

-- sql/purge.sql
-- purge: rows for which purge_if holds, to gone, of the rows that purge_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DELETE /* ordersq.Purge */ FROM orders
WHERE  id = ANY ($1::bigint[])
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind
INSERT /* ordersq.Enqueue */ INTO orders
       (kind)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Kind
INSERT /* ordersq.EnqueueMany */ INTO orders
       (kind)
SELECT kind_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (kind_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 2) AS running,
       count(*) FILTER (WHERE state = 1) AS done,
       count(*) FILTER (WHERE state = 3) AS failed
FROM   orders
WHERE  (kind = 'mail');

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 0 AND kind = 'mail'
SELECT /* ordersq.Backlog */
       count(*) AS ready
FROM   orders
WHERE  state = 0
AND    (kind = 'mail');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 0 AND kind = 'mail'
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       id, kind
FROM   orders
WHERE  state = 0
AND    (kind = 'mail')
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('kind', 'text'),
               ('state', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('orders')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of parts
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('order_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('parts')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ordersq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('orders_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('orders')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX orders_ready ON orders (id)
WHERE  state = 0
AND    kind = 'mail';
