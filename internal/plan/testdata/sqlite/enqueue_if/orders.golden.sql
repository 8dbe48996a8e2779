-- Package ordersq uses the table orders as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Besides the queue's own rows it writes sent (Enqueue), each in the transaction of the operation.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where ((select count(*) from sent s where s.tenant = {new}.tenant and s.at > strftime('%s', 'now') - 3600) < 3), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* ordersq.Claim */ orders
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   orders
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, tenant, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* ordersq.Claim */ orders
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   orders
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, tenant, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* ordersq.Complete */ FROM orders
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(till IS NOT NULL)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* ordersq.Fail */ FROM orders
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(till IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* ordersq.Requeue */ orders
SET    till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* ordersq.Extend */ orders
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING id, till;

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none
-- locks: the database for writing, while the statement runs
-- index: whichever finds the rows of enqueue_if
-- arguments: 1: new Tenant
INSERT /* ordersq.Enqueue */ INTO orders
       (tenant)
SELECT ?1
WHERE  ((select count(*) from sent s where s.tenant = ?1 and s.at > strftime('%s', 'now') - 3600) < 3)
RETURNING id;

-- sql/enqueue_insert_sent.sql
-- enqueue: inserts rows into sent for the rows that were added
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* ordersq.Enqueue */ INTO sent
       (tenant, at)
SELECT held.tenant, unixepoch()
FROM   orders AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(*) FILTER (WHERE (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   orders;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       id, tenant
FROM   orders
WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
ORDER  BY id
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
    VALUES ('id', 'integer'),
           ('tenant', 'int'),
           ('till', 'integer')
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

-- sql/verify_columns_also.sql
-- verify: columns of sent
-- locks: none
WITH /* ordersq.Verify */ want (name, type) AS (
    VALUES ('tenant', 'int'),
           ('at', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('sent') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
