-- Package spentq uses the table spent as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "held" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* spentq.Claim */ spent
SET    held = unixepoch() + 300,
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   spent
           WHERE  (held <= unixepoch() OR held IS NULL)
           AND    (tries <= max_retries OR max_retries IN (-1, 99))
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, held, tries, max_retries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* spentq.Claim */ spent
SET    held = unixepoch() + 300,
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   spent
           WHERE  (held <= unixepoch() OR held IS NULL)
           AND    (tries <= max_retries OR max_retries IN (-1, 99))
           ORDER  BY id
           LIMIT  1)
RETURNING id, held, tries, max_retries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
DELETE /* spentq.Complete */ FROM spent
WHERE  (id, tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1))
AND    +(held IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Fail */ spent
SET    held = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    held IS NOT NULL)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Fail */ spent
SET    held = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    held IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Requeue */ spent
SET    held = NULL,
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    held IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Extend */ spent
SET    held = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    held IS NOT NULL)
RETURNING id, held;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* spentq.Redrive */ spent
SET    held = NULL,
       tries = 0
WHERE  id IN (
           SELECT id
           FROM   spent
           WHERE  (held <= unixepoch() OR held IS NULL)
           AND    tries > max_retries
           AND    max_retries NOT IN (-1, 99)
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
DELETE /* spentq.Purge */ FROM spent
WHERE  id IN (
           SELECT id
           FROM   spent
           WHERE  (held <= unixepoch() OR held IS NULL)
           AND    tries > max_retries
           AND    max_retries NOT IN (-1, 99)
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new MaxRetries
INSERT /* spentq.Enqueue */ INTO spent
       (max_retries)
VALUES (coalesce(?1, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all MaxRetries
INSERT /* spentq.EnqueueMany */ INTO spent
       (max_retries)
SELECT coalesce(max_retries_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS max_retries_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* spentq.Stats */
       count(*) FILTER (WHERE (held <= unixepoch() OR held IS NULL) AND (tries <= max_retries OR max_retries IN (-1, 99))) AS ready,
       count(*) FILTER (WHERE held IS NOT NULL AND held > unixepoch()) AS running,
       count(*) FILTER (WHERE (held <= unixepoch() OR held IS NULL) AND tries > max_retries AND max_retries NOT IN (-1, 99)) AS failed,
       count(*) FILTER (WHERE held IS NOT NULL AND held <= unixepoch()) AS expired
FROM   spent;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* spentq.Backlog */
       count(*) AS ready
FROM   spent
WHERE  (held <= unixepoch() OR held IS NULL)
AND    (tries <= max_retries OR max_retries IN (-1, 99));

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* spentq.Peek */
       id, tries, max_retries
FROM   spent
WHERE  (held <= unixepoch() OR held IS NULL)
AND    (tries <= max_retries OR max_retries IN (-1, 99))
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* spentq.Verify */
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
WITH /* spentq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('held', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('max_retries', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('spent') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
