-- Package itemsq uses the table items as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: column "expires" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, due_at) WHERE available IN (1, 0) AND remaining > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Mark, 2: limit
UPDATE /* itemsq.Claim */ items
SET    available = 0,
       expires = unixepoch() + 300,
       remaining = remaining - 1,
       mark = ?1
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= unixepoch() OR available = 1)
           AND    remaining > 0
           AND    (due_at <= unixepoch() OR due_at IS NULL)
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, expires, due_at, remaining, mark;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, due_at) WHERE available IN (1, 0) AND remaining > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Mark
UPDATE /* itemsq.Claim */ items
SET    available = 0,
       expires = unixepoch() + 300,
       remaining = remaining - 1,
       mark = ?1
WHERE  id = (
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= unixepoch() OR available = 1)
           AND    remaining > 0
           AND    (due_at <= unixepoch() OR due_at IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, expires, due_at, remaining, mark;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* itemsq.Complete */ FROM items
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
AND    +(available = 0)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
UPDATE /* itemsq.Fail */ items
SET    available = 1,
       expires = NULL,
       due_at = CAST(unixepoch() + ((5 - remaining) * 60) AS INTEGER),
       mark = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held
      AND    available = 0)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
UPDATE /* itemsq.Fail */ items
SET    available = 1,
       expires = NULL,
       remaining = 0,
       mark = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held
      AND    available = 0)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Mark
UPDATE /* itemsq.Requeue */ items
SET    available = 1,
       expires = NULL,
       due_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE due_at END,
       remaining = remaining + 1,
       mark = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held
      AND    available = 0)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
UPDATE /* itemsq.Extend */ items
SET    expires = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held
      AND    available = 0)
RETURNING id, expires;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* itemsq.Redrive */ items
SET    available = 1,
       expires = NULL,
       remaining = 5,
       mark = NULL
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= unixepoch() OR available = 1)
           AND    remaining <= 0
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
DELETE /* itemsq.Purge */ FROM items
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= unixepoch() OR available = 1)
           AND    remaining <= 0
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new DueAt
INSERT /* itemsq.Enqueue */ INTO items
       (due_at)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all DueAt
INSERT /* itemsq.EnqueueMany */ INTO items
       (due_at)
SELECT due_at_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS due_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(*) FILTER (WHERE available IN (1, 0) AND (expires <= unixepoch() OR available = 1) AND remaining > 0 AND (due_at <= unixepoch() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE available = 0 AND expires > unixepoch()) AS running,
       count(*) FILTER (WHERE available IN (1, 0) AND (expires <= unixepoch() OR available = 1) AND remaining <= 0) AS failed,
       count(*) FILTER (WHERE available IN (1, 0) AND remaining > 0 AND due_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE available = 0 AND expires <= unixepoch()) AS expired,
       (unixepoch() - min(due_at) FILTER (WHERE available IN (1, 0) AND (expires <= unixepoch() OR available = 1) AND remaining > 0 AND (due_at <= unixepoch() OR due_at IS NULL))) AS oldest_ready
FROM   items;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, due_at) WHERE available IN (1, 0) AND remaining > 0
SELECT /* itemsq.Backlog */
       count(*) FILTER (WHERE (expires <= unixepoch() OR available = 1) AND (due_at <= unixepoch() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE due_at > unixepoch()) AS delayed,
       (unixepoch() - min(due_at) FILTER (WHERE (expires <= unixepoch() OR available = 1) AND (due_at <= unixepoch() OR due_at IS NULL))) AS oldest_ready
FROM   items
WHERE  available IN (1, 0)
AND    remaining > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, due_at) WHERE available IN (1, 0) AND remaining > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* itemsq.Peek */
       id, due_at, remaining
FROM   items
WHERE  available IN (1, 0)
AND    (expires <= unixepoch() OR available = 1)
AND    remaining > 0
AND    (due_at <= unixepoch() OR due_at IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
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
WITH /* itemsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('available', 'INTEGER'),
           ('expires', 'INTEGER'),
           ('due_at', 'INTEGER'),
           ('remaining', 'INTEGER'),
           ('mark', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('items') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* itemsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('items_ready', 'id', 'id', 'availablein1,0andremaining>0')
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
    FROM   pragma_index_list('items') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX items_ready ON items (id, due_at)
WHERE  available IN (1, 0)
AND    remaining > 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
