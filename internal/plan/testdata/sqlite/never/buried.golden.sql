-- Package buriedq uses the table buried as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Bury------------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: column "at" is due and lease, so a claim hides the row by moving its due time
-- note: a row that waits for its time looks like one that runs: both are hidden by column "at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the fence compares column "at", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: buried_at (at)
-- arguments: 1: worker Worker, 2: limit
UPDATE /* buriedq.Claim */ buried
SET    at = unixepoch() + 1000,
       worker = ?1
WHERE  id IN (
           SELECT id
           FROM   buried INDEXED BY buried_at
           WHERE  at <= unixepoch()
           AND    at <> 2147483647
           ORDER  BY at, id
           LIMIT  ?2)
RETURNING id, at, worker, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: buried_at (at)
-- arguments: 1: worker Worker
UPDATE /* buriedq.Claim */ buried
SET    at = unixepoch() + 1000,
       worker = ?1
WHERE  id = (
           SELECT id
           FROM   buried INDEXED BY buried_at
           WHERE  at <= unixepoch()
           AND    at <> 2147483647
           ORDER  BY at, id
           LIMIT  1)
RETURNING id, at, worker, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID At Worker
DELETE /* buriedq.Complete */ FROM buried
WHERE  (id, at, worker) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1))
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID At Worker
UPDATE /* buriedq.Fail */ buried
SET    at = CAST(unixepoch() + ?1 AS INTEGER),
       worker = NULL,
       tries = tries + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    worker = worker_held)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID At Worker
UPDATE /* buriedq.Requeue */ buried
SET    at = CAST(unixepoch() + ?1 AS INTEGER),
       worker = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    worker = worker_held)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID At Worker
UPDATE /* buriedq.Extend */ buried
SET    at = unixepoch() + 1000
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    worker = worker_held)
RETURNING id, at;

-- sql/outcome_bury.sql
-- outcome_bury: running to ready
-- fence: at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID At Worker
UPDATE /* buriedq.Bury */ buried
SET    at = 2147483647,
       worker = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    worker = worker_held)
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new At
INSERT /* buriedq.Enqueue */ INTO buried
       (at)
VALUES (coalesce(?1, unixepoch()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all At
INSERT /* buriedq.EnqueueMany */ INTO buried
       (at)
SELECT coalesce(at_new, unixepoch())
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buriedq.Stats */
       count(*) FILTER (WHERE at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE at > unixepoch()) AS running,
       count(*) FILTER (WHERE at > unixepoch()) AS delayed,
       (unixepoch() - min(at) FILTER (WHERE at <= unixepoch())) AS oldest_ready
FROM   buried
WHERE  at <> 2147483647;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: buried_at (at)
-- arguments: 1: limit
SELECT /* buriedq.Peek */
       id, at, tries
FROM   buried INDEXED BY buried_at
WHERE  at <= unixepoch()
AND    at <> 2147483647
ORDER  BY at, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buriedq.Verify */
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
WITH /* buriedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('at', 'INTEGER'),
           ('worker', 'TEXT'),
           ('tries', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('buried') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* buriedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('buried_at', '', '', '')
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
    FROM   pragma_index_list('buried') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted: buried_at serves already
