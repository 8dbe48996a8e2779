-- Package ordersq uses the table orders as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	purge_if --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0 AND kind = 'mail'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* ordersq.Claim */ orders
SET    state = 2
WHERE  id IN (
           SELECT id
           FROM   orders
           WHERE  state = 0
           AND    (kind = 'mail')
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, kind;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0 AND kind = 'mail'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* ordersq.Claim */ orders
SET    state = 2
WHERE  id = (
           SELECT id
           FROM   orders
           WHERE  state = 0
           AND    (kind = 'mail')
           ORDER  BY id
           LIMIT  1)
RETURNING id, kind;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* ordersq.Complete */ orders
SET    state = 1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 2)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* ordersq.Fail */ orders
SET    state = 3
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 2)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* ordersq.Requeue */ orders
SET    state = 0
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 2)
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* ordersq.Redrive */ orders
SET    state = 0
WHERE  id IN (
           SELECT id
           FROM   orders
           WHERE  state = 3
           AND    (kind = 'mail')
           LIMIT  ?1);

-- sql/purge_lock.sql
-- purge: locks rows, which purge.sql then writes
-- locks: the database for writing, while the statement runs
-- index: whichever finds the rows of purge_if
-- arguments: 1: param state int, 2: limit
SELECT /* ordersq.Purge */
       id
FROM   orders
WHERE  (state in (?1, 3))
AND    (kind = 'mail')
LIMIT  ?2;

-- sql/purge_delete_parts.sql
-- purge: deletes rows from parts for the rows that purge_lock.sql locked, before purge.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of parts one that begins with order_id
-- arguments: 1: batch_all ID
DELETE /* ordersq.Purge */ FROM parts
WHERE  order_id IN (
SELECT held.id
FROM   orders AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1)));

-- sql/purge.sql
-- purge: rows for which purge_if holds, to gone, of the rows that purge_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* ordersq.Purge */ FROM orders
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* ordersq.Reserve */ FROM orders
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Kind
INSERT /* ordersq.Enqueue */ INTO orders
       (kind)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Kind
INSERT /* ordersq.EnqueueMany */ INTO orders
       (kind)
SELECT kind_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS kind_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
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
-- index: (id) WHERE state = 0 AND kind = 'mail'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       id, kind
FROM   orders
WHERE  state = 0
AND    (kind = 'mail')
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
           ('kind', 'text'),
           ('state', 'integer')
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
-- verify: columns of parts
-- locks: none
WITH /* ordersq.Verify */ want (name, type) AS (
    VALUES ('order_id', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('parts') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* ordersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('orders_ready', 'id', 'id', 'state=0andkind=''mail''')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX orders_ready ON orders (id)
WHERE  state = 0
AND    kind = 'mail';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
