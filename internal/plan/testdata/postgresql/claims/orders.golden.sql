-- Package ordersq uses the table orders as a queue of jobs on PostgreSQL 14 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, id

-- sql/claim.sql
-- claim: ready to running, by a row of reservations for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Mark, 3: worker Holder
WITH /* ordersq.Claim */ picked AS MATERIALIZED (
    SELECT id, body
    FROM   orders
    WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.order_id = orders.id AND NOT (reservations.ends_at <= now()))
    ORDER  BY id
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO reservations
           (order_id, mark, holder, ends_at, tries)
    SELECT picked.id, $2::uuid, $3::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (order_id) DO UPDATE
    SET    mark = $2,
           holder = $3,
           ends_at = now() + interval '5 minutes',
           tries = reservations.tries + 1
    WHERE  reservations.ends_at <= now()
    RETURNING reservations.order_id, reservations.mark, reservations.ends_at,
              reservations.tries, reservations.problem
)
SELECT picked.id, picked.body, leased.mark, leased.ends_at, leased.tries, leased.problem
FROM   leased
       JOIN picked
       ON  leased.order_id = picked.id;

-- sql/claim_1.sql
-- claim: ready to running, by a row of reservations for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark, 2: worker Holder
WITH /* ordersq.Claim */ picked AS MATERIALIZED (
    SELECT id, body
    FROM   orders
    WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.order_id = orders.id AND NOT (reservations.ends_at <= now()))
    ORDER  BY id
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO reservations
           (order_id, mark, holder, ends_at, tries)
    SELECT picked.id, $1::uuid, $2::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (order_id) DO UPDATE
    SET    mark = $1,
           holder = $2,
           ends_at = now() + interval '5 minutes',
           tries = reservations.tries + 1
    WHERE  reservations.ends_at <= now()
    RETURNING reservations.order_id, reservations.mark, reservations.ends_at,
              reservations.tries, reservations.problem
)
SELECT picked.id, picked.body, leased.mark, leased.ends_at, leased.tries, leased.problem
FROM   leased
       JOIN picked
       ON  leased.order_id = picked.id;

-- sql/claim_100.sql
-- claim: ready to running, by a row of reservations for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark, 2: worker Holder
WITH /* ordersq.Claim */ picked AS MATERIALIZED (
    SELECT id, body
    FROM   orders
    WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.order_id = orders.id AND NOT (reservations.ends_at <= now()))
    ORDER  BY id
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO reservations
           (order_id, mark, holder, ends_at, tries)
    SELECT picked.id, $1::uuid, $2::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (order_id) DO UPDATE
    SET    mark = $1,
           holder = $2,
           ends_at = now() + interval '5 minutes',
           tries = reservations.tries + 1
    WHERE  reservations.ends_at <= now()
    RETURNING reservations.order_id, reservations.mark, reservations.ends_at,
              reservations.tries, reservations.problem
)
SELECT picked.id, picked.body, leased.mark, leased.ends_at, leased.tries, leased.problem
FROM   leased
       JOIN picked
       ON  leased.order_id = picked.id;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
WITH /* ordersq.Complete */ picked AS MATERIALIZED (
    SELECT orders.id, order_id_held, mark_held
    FROM   unnest($1::bigint[], $2::uuid[]) AS job (order_id_held, mark_held)
           JOIN orders
           ON  orders.id = order_id_held
    FOR    UPDATE OF orders
), leased AS (
    DELETE FROM reservations
    USING  picked
    WHERE  reservations.order_id = ANY ($1::bigint[])
    AND    reservations.order_id = picked.id
    AND    CASE WHEN reservations.mark = picked.mark_held THEN true END
    RETURNING reservations.order_id
)
DELETE FROM orders
USING  leased
WHERE  leased.order_id = orders.id
RETURNING orders.id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch ID, 4: batch Mark
UPDATE /* ordersq.Fail */ reservations
SET    mark = NULL,
       holder = NULL,
       ends_at = now() + make_interval(secs => $1),
       problem = $2
FROM   unnest($3::bigint[], $4::uuid[]) AS job (order_id_held, mark_held)
WHERE  order_id = ANY ($3::bigint[])
AND    order_id = order_id_held
AND    CASE WHEN mark = mark_held
            AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.order_id = orders.id)) THEN true END
RETURNING order_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Mark
UPDATE /* ordersq.Requeue */ reservations
SET    mark = NULL,
       holder = NULL,
       ends_at = now() + make_interval(secs => $1),
       tries = tries - 1
FROM   unnest($2::bigint[], $3::uuid[]) AS job (order_id_held, mark_held)
WHERE  order_id = ANY ($2::bigint[])
AND    order_id = order_id_held
AND    CASE WHEN mark = mark_held
            AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.order_id = orders.id)) THEN true END
RETURNING order_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* ordersq.Extend */ reservations
SET    ends_at = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (order_id_held, mark_held)
WHERE  order_id = ANY ($1::bigint[])
AND    order_id = order_id_held
AND    CASE WHEN mark = mark_held
            AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.order_id = orders.id)) THEN true END
RETURNING order_id, ends_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* ordersq.Recover */ reservations
SET    mark = NULL,
       holder = NULL
WHERE  order_id = ANY (ARRAY(
           SELECT order_id
           FROM   reservations
           WHERE  mark IS NOT NULL
           AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.order_id = orders.id))
           AND    ends_at <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
DELETE /* ordersq.Recover */ FROM reservations
WHERE  order_id = ANY (ARRAY(
           SELECT order_id
           FROM   reservations
           WHERE  (NOT EXISTS (SELECT 1 FROM orders WHERE reservations.order_id = orders.id))
           AND    ends_at <= now()
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Body
INSERT /* ordersq.Enqueue */ INTO orders
       (id, body)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Body
INSERT /* ordersq.EnqueueMany */ INTO orders
       (id, body)
SELECT id_new, body_new
FROM   unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS job (id_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(*) FILTER (WHERE (reservations.order_id IS NULL OR reservations.ends_at <= now())) AS ready,
       count(*) FILTER (WHERE reservations.mark IS NOT NULL AND reservations.ends_at > now()) AS running,
       count(*) FILTER (WHERE reservations.mark IS NULL AND reservations.ends_at > now()) AS delayed,
       count(*) FILTER (WHERE reservations.mark IS NOT NULL AND reservations.ends_at <= now()) AS expired
FROM   orders LEFT JOIN reservations ON reservations.order_id = orders.id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       id, body
FROM   orders
WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.order_id = orders.id AND NOT (reservations.ends_at <= now()))
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('orders')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of reservations
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('order_id', 'bigint'),
               ('mark', 'uuid'),
               ('holder', 'text'),
               ('ends_at', 'timestamptz'),
               ('tries', 'integer'),
               ('problem', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('reservations')
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
FROM   (VALUES ('orders_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted: orders_pkey serves already
