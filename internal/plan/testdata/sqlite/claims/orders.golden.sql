-- Package ordersq uses the table orders as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         SQLite locks the whole database, not rows
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQLite has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, region, seq

-- sql/claim.sql
-- claim: ready to running, by a row of reservations for each of ready rows
-- locks: the database for writing, while the statement runs
-- index: the primary key (region, seq)
-- arguments: 1: worker Holder, 2: limit
INSERT /* ordersq.Claim */ INTO reservations
       (region, order_no, holder, since, tries)
SELECT orders.region, orders.seq, ?1,
       CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 1
FROM   orders
WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.region = orders.region AND reservations.order_no = orders.seq AND NOT (reservations.since <= CAST((julianday('now') - 2440587.5) * 86400000 - 1800 * 1000 AS INTEGER)))
ORDER  BY region, seq
LIMIT  ?2
ON     CONFLICT (region, order_no) DO UPDATE
SET    holder = ?1,
       since = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       tries = reservations.tries + 1
WHERE  reservations.since <= CAST((julianday('now') - 2440587.5) * 86400000 - 1800 * 1000 AS INTEGER)
RETURNING region, order_no;

-- sql/claim_read.sql
-- claim: reads the jobs that were taken, with their claims
-- locks: none
-- index: the key of both tables
-- arguments: 1: batch_all Region Seq
SELECT /* ordersq.Claim */
       orders.region, orders.seq, orders.body, reservations.holder, reservations.since,
       reservations.tries
FROM   reservations, orders
WHERE  (orders.region, orders.seq) IN (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held
           FROM   json_each(?1))
AND    +(reservations.region = orders.region
      AND    reservations.order_no = orders.seq);

-- sql/complete.sql
-- complete: running to done
-- fence: since, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq Since Holder
DELETE /* ordersq.Complete */ FROM reservations
WHERE  (region, order_no, since, holder) IN (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS order_no_held,
                  json_extract(value, '$[2]') AS since_held,
                  json_extract(value, '$[3]') AS holder_held
           FROM   json_each(?1))
AND    +((EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq)))
RETURNING region, order_no;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all Region Seq
DELETE /* ordersq.Complete */ FROM orders
WHERE  (region, seq) IN (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held
           FROM   json_each(?1));

-- sql/retry.sql
-- retry: running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq Since Holder
DELETE /* ordersq.Fail */ FROM reservations
WHERE  (region, order_no, since, holder) IN (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS order_no_held,
                  json_extract(value, '$[2]') AS since_held,
                  json_extract(value, '$[3]') AS holder_held
           FROM   json_each(?1))
AND    +((EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq)))
RETURNING region, order_no;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq Since Holder
DELETE /* ordersq.Requeue */ FROM reservations
WHERE  (region, order_no, since, holder) IN (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS order_no_held,
                  json_extract(value, '$[2]') AS since_held,
                  json_extract(value, '$[3]') AS holder_held
           FROM   json_each(?1))
AND    +((EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq)))
RETURNING region, order_no;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq Since Holder
UPDATE /* ordersq.Extend */ reservations
SET    since = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS order_no_held,
                  json_extract(value, '$[2]') AS since_held,
                  json_extract(value, '$[3]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  region = region_held
AND    order_no = order_no_held
AND    +(since = since_held
      AND    holder = holder_held
      AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq)))
RETURNING region, order_no, since;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) would find them
-- arguments: 1: limit
DELETE /* ordersq.Recover */ FROM reservations
WHERE  rowid IN (
           SELECT rowid
           FROM   reservations
           WHERE  (NOT EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq))
           AND    since <= CAST((julianday('now') - 2440587.5) * 86400000 - 1800 * 1000 AS INTEGER)
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Region, 2: new Seq, 3: new Body
INSERT /* ordersq.Enqueue */ INTO orders
       (region, seq, body)
VALUES (?1, ?2, ?3)
RETURNING region, seq;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Region Seq Body
INSERT /* ordersq.EnqueueMany */ INTO orders
       (region, seq, body)
SELECT region_new, seq_new, body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS region_new,
                  json_extract(value, '$[1]') AS seq_new,
                  json_extract(value, '$[2]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING region, seq;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(*) FILTER (WHERE (reservations.region IS NULL OR reservations.since <= CAST((julianday('now') - 2440587.5) * 86400000 - 1800 * 1000 AS INTEGER))) AS ready,
       count(*) FILTER (WHERE reservations.since > CAST((julianday('now') - 2440587.5) * 86400000 - 1800 * 1000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE reservations.since <= CAST((julianday('now') - 2440587.5) * 86400000 - 1800 * 1000 AS INTEGER)) AS expired
FROM   orders LEFT JOIN reservations ON reservations.region = orders.region AND reservations.order_no = orders.seq;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (region, seq)
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       region, seq, body
FROM   orders
WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.region = orders.region AND reservations.order_no = orders.seq AND NOT (reservations.since <= CAST((julianday('now') - 2440587.5) * 86400000 - 1800 * 1000 AS INTEGER)))
ORDER  BY region, seq
LIMIT  ?1;

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
    VALUES ('region', 'text'),
           ('seq', 'integer'),
           ('body', 'text')
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

-- sql/verify_lease.sql
-- verify: columns of reservations
-- locks: none
WITH /* ordersq.Verify */ want (name, type) AS (
    VALUES ('region', 'text'),
           ('order_no', 'integer'),
           ('holder', 'text'),
           ('since', 'integer'),
           ('tries', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('reservations') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
