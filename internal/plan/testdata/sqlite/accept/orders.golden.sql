-- Package ordersq uses the table orders as a queue of jobs on SQLite 3.38 and later.
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
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- index: (shop, number) WHERE paid = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param acceptValue int64, 2: shards, 3: shard, 4: limit
SELECT /* ordersq.Claim */
       shop, number, stripe, weight, revision
FROM   orders
WHERE  paid = 0
AND    (weight <= ?1)
AND    ((coalesce(stripe, 0) % ?2) + ?2) % ?2 = ?3
ORDER  BY shop, number
LIMIT  ?4;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: token Mark, 2: batch_all Shop Number Revision, 3: param acceptValue int64, 4: shards, 5: shard
UPDATE /* ordersq.Claim */ orders
SET    revision = revision + 1,
       mark = ?1,
       paid = 1
FROM   (
           SELECT json_extract(value, '$[0]') AS shop_picked,
                  json_extract(value, '$[1]') AS number_picked,
                  json_extract(value, '$[2]') AS revision_picked
           FROM   json_each(?2)
       ) AS job
WHERE  shop = shop_picked
AND    number = number_picked
AND    +(revision = revision_picked
      AND    paid = 0
      AND    (weight <= ?3)
      AND    ((coalesce(stripe, 0) % ?4) + ?4) % ?4 = ?5)
RETURNING shop, number, stripe, weight, revision, mark;

-- sql/payload.sql
-- payload: what claimed jobs have in lines
-- locks: none
-- index: the key
-- arguments: 1: batch_all Shop Number
SELECT /* ordersq.Payload */
       orders.shop, orders.number, l.label
FROM   (
           SELECT json_extract(value, '$[0]') AS shop_held,
                  json_extract(value, '$[1]') AS number_held
           FROM   json_each(?1)
       ) AS job
       CROSS JOIN orders
       ON  orders.shop = shop_held
       AND orders.number = number_held
       LEFT JOIN lines l
       ON  (l.shop = orders.shop and l.number = orders.number);

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Shop Number Mark
UPDATE /* ordersq.Complete */ orders
SET    revision = revision + 1,
       paid = 2
FROM   (
           SELECT json_extract(value, '$[0]') AS shop_held,
                  json_extract(value, '$[1]') AS number_held,
                  json_extract(value, '$[2]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  shop = shop_held
AND    number = number_held
AND    +(mark = mark_held
      AND    paid = 1)
RETURNING shop, number;

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Shop Number Mark
UPDATE /* ordersq.Fail */ orders
SET    revision = revision + 1,
       mark = NULL,
       paid = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS shop_held,
                  json_extract(value, '$[1]') AS number_held,
                  json_extract(value, '$[2]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  shop = shop_held
AND    number = number_held
AND    +(mark = mark_held
      AND    paid = 1)
RETURNING shop, number;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Shop Number Mark
UPDATE /* ordersq.Requeue */ orders
SET    revision = revision + 1,
       mark = NULL,
       paid = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS shop_held,
                  json_extract(value, '$[1]') AS number_held,
                  json_extract(value, '$[2]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  shop = shop_held
AND    number = number_held
AND    +(mark = mark_held
      AND    paid = 1)
RETURNING shop, number;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (shop, number) WHERE paid = 2 would find them
-- arguments: 1: limit
DELETE /* ordersq.Purge */ FROM orders
WHERE  rowid IN (
           SELECT rowid
           FROM   orders
           WHERE  paid = 2
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Shop, 2: new Number, 3: new Stripe, 4: new Weight
INSERT /* ordersq.Enqueue */ INTO orders
       (shop, number, stripe, weight, revision)
VALUES (?1, ?2, ?3, ?4, 0)
RETURNING shop, number;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Shop Number Stripe Weight
INSERT /* ordersq.EnqueueMany */ INTO orders
       (shop, number, stripe, weight, revision)
SELECT shop_new, number_new, stripe_new, weight_new, 0
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS shop_new,
                  json_extract(value, '$[1]') AS number_new,
                  json_extract(value, '$[2]') AS stripe_new,
                  json_extract(value, '$[3]') AS weight_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
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
-- index: (shop, number) WHERE paid = 0
SELECT /* ordersq.Backlog */
       count(*) AS ready
FROM   orders
WHERE  paid = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (shop, number) WHERE paid = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param acceptValue int64, 2: shards, 3: shard, 4: limit
SELECT /* ordersq.Peek */
       shop, number, stripe, weight, revision
FROM   orders
WHERE  paid = 0
AND    (weight <= ?1)
AND    ((coalesce(stripe, 0) % ?2) + ?2) % ?2 = ?3
ORDER  BY shop, number
LIMIT  ?4;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* ordersq.Verify */ want (name, type) AS (
    VALUES ('shop', 'INTEGER'),
           ('number', 'INTEGER'),
           ('stripe', 'INTEGER'),
           ('weight', 'INTEGER'),
           ('revision', 'INTEGER'),
           ('mark', 'TEXT'),
           ('paid', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('orders') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_payload.sql
-- verify: columns of lines
-- locks: none
WITH /* ordersq.Verify */ want (name, type) AS (
    VALUES ('label', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('lines') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* ordersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('orders_ready', 'shop, number', 'shop, number', 'paid=0')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('orders') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX orders_ready ON orders (shop, number)
WHERE  paid = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
