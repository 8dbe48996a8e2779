-- Package ordersq uses the table orders as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates orders_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, shop, number
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the shard narrows every claim to the rows of one instance

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (shop NULLS FIRST, number) WHERE paid = 0
-- isolation: read committed
-- arguments: 1: param acceptValue int64, 2: shards, 3: shard, 4: limit
SELECT /* ordersq.Claim */
       shop, number, stripe, weight, revision
FROM   orders
WHERE  paid = 0
AND    (weight <= $1)
AND    mod(mod(coalesce(stripe, 0), $2) + $2, $2) = $3
ORDER  BY shop NULLS FIRST, number
LIMIT  $4;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: token Mark, 2: batch Shop, 3: batch Number, 4: batch Revision, 5: param acceptValue int64, 6: shards, 7: shard
UPDATE /* ordersq.Claim */ orders
SET    revision = revision + 1,
       mark = $1,
       paid = 1
FROM   unnest($2::integer[], $3::bigint[], $4::integer[]) AS job (shop_picked, number_picked, revision_picked)
WHERE  shop = shop_picked
AND    number = number_picked
AND    CASE WHEN revision = revision_picked
            AND    paid = 0
            AND    (weight <= $5)
            AND    mod(mod(coalesce(stripe, 0), $6) + $6, $6) = $7 THEN true END
RETURNING shop, number, stripe, weight, revision, mark;

-- sql/payload.sql
-- payload: what claimed jobs have in lines
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Shop, 2: batch Number
SELECT /* ordersq.Payload */
       orders.shop, orders.number, l.label
FROM   unnest($1::integer[], $2::bigint[]) AS job (shop_held, number_held)
       JOIN orders
       ON  orders.shop = shop_held
       AND orders.number = number_held
       LEFT JOIN lines l
       ON  (l.shop = orders.shop and l.number = orders.number);

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Shop, 2: batch Number, 3: batch Mark
UPDATE /* ordersq.Complete */ orders
SET    revision = revision + 1,
       paid = 2
FROM   unnest($1::integer[], $2::bigint[], $3::text[]) AS job (shop_held, number_held, mark_held)
WHERE  shop = shop_held
AND    number = number_held
AND    CASE WHEN mark = mark_held
            AND    paid = 1 THEN true END
RETURNING shop, number;

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Shop, 2: batch Number, 3: batch Mark
UPDATE /* ordersq.Fail */ orders
SET    revision = revision + 1,
       mark = NULL,
       paid = 0
FROM   unnest($1::integer[], $2::bigint[], $3::text[]) AS job (shop_held, number_held, mark_held)
WHERE  shop = shop_held
AND    number = number_held
AND    CASE WHEN mark = mark_held
            AND    paid = 1 THEN true END
RETURNING shop, number;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Shop, 2: batch Number, 3: batch Mark
UPDATE /* ordersq.Requeue */ orders
SET    revision = revision + 1,
       mark = NULL,
       paid = 0
FROM   unnest($1::integer[], $2::bigint[], $3::text[]) AS job (shop_held, number_held, mark_held)
WHERE  shop = shop_held
AND    number = number_held
AND    CASE WHEN mark = mark_held
            AND    paid = 1 THEN true END
RETURNING shop, number;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (shop, number) WHERE paid = 2 would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* ordersq.Purge */ picked AS MATERIALIZED (
    SELECT shop, number
    FROM   orders
    WHERE  paid = 2
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM orders
USING  picked
WHERE  orders.shop = picked.shop
AND    orders.number = picked.number;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Shop, 2: new Number, 3: new Stripe, 4: new Weight
INSERT /* ordersq.Enqueue */ INTO orders
       (shop, number, stripe, weight, revision)
VALUES ($1, $2, $3, $4, 0)
RETURNING shop, number;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Shop, 2: new_batch Number, 3: new_batch Stripe, 4: new_batch Weight
INSERT /* ordersq.EnqueueMany */ INTO orders
       (shop, number, stripe, weight, revision)
SELECT shop_new, number_new, stripe_new, weight_new, 0
FROM   unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) WITH ORDINALITY AS job (shop_new, number_new, stripe_new, weight_new, job_order)
ORDER  BY job_order
RETURNING shop, number;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(*) FILTER (WHERE paid = 0) AS ready,
       count(*) FILTER (WHERE paid = 1) AS running,
       count(*) FILTER (WHERE paid = 2) AS done
FROM   orders;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (shop NULLS FIRST, number) WHERE paid = 0
SELECT /* ordersq.Backlog */
       count(*) AS ready
FROM   orders
WHERE  paid = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (shop NULLS FIRST, number) WHERE paid = 0
-- isolation: read committed
-- arguments: 1: param acceptValue int64, 2: shards, 3: shard, 4: limit
SELECT /* ordersq.Peek */
       shop, number, stripe, weight, revision
FROM   orders
WHERE  paid = 0
AND    (weight <= $1)
AND    mod(mod(coalesce(stripe, 0), $2) + $2, $2) = $3
ORDER  BY shop NULLS FIRST, number
LIMIT  $4;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('shop', 'integer'),
               ('number', 'bigint'),
               ('stripe', 'integer'),
               ('weight', 'integer'),
               ('revision', 'integer'),
               ('mark', 'text'),
               ('paid', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('orders')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload.sql
-- verify: columns of lines
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('label', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('lines')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* ordersq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ordersq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('orders_ready', 'shop nulls first, number', 'shop nulls first, number', 'paid=0')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('orders')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX CONCURRENTLY orders_ready ON orders (shop NULLS FIRST, number)
WHERE  paid = 0;
