-- Package messagesq uses the table messages as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, when its claim has run out, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready, when its claim has run out
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "at"
-- note: tries are counted in column "n" when they begin (on=claim)
-- note: on retry, column "at" stays as it is, as qgen:on says, and does not get now + {delay} as qgen:visible would
-- note: on release, column "at" stays as it is, as qgen:on says, and does not get now + {delay} as qgen:visible would
-- note: rows are taken as they came, by column "id"; order 1 at column "at" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "n" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* messagesq.Claim */ messages
SET    at = unixepoch() + 300,
       n = n + 1
WHERE  id IN (
           SELECT id
           FROM   messages
           WHERE  at <= unixepoch()
           AND    n < 3
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, at, n, error;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* messagesq.Claim */ messages
SET    at = unixepoch() + 300,
       n = n + 1
WHERE  id = (
           SELECT id
           FROM   messages
           WHERE  at <= unixepoch()
           AND    n < 3
           ORDER  BY id
           LIMIT  1)
RETURNING id, at, n, error;

-- sql/complete.sql
-- complete: running to done
-- fence: n as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID N
DELETE /* messagesq.Complete */ FROM messages
WHERE  (id, n) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS n_held
           FROM   json_each(?1))
RETURNING id;

-- sql/retry.sql
-- retry: running until the claim has run out, one try used
-- fence: n as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID N
UPDATE /* messagesq.Fail */ messages
SET    error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS n_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(n = n_held)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: n as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID N
UPDATE /* messagesq.Fail */ messages
SET    at = unixepoch(),
       error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS n_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(n = n_held)
RETURNING id;

-- sql/requeue.sql
-- requeue: running until the claim has run out, no try used
-- fence: n as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID N
UPDATE /* messagesq.Requeue */ messages
SET    n = n - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS n_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(n = n_held)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: n as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID N
UPDATE /* messagesq.Extend */ messages
SET    at = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS n_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(n = n_held)
RETURNING id, at;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* messagesq.Redrive */ messages
SET    at = unixepoch(),
       n = 0
WHERE  id IN (
           SELECT id
           FROM   messages
           WHERE  at <= unixepoch()
           AND    n >= 3
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (at) WHERE n >= 3 would find them
-- arguments: 1: older, 2: limit
DELETE /* messagesq.Purge */ FROM messages
WHERE  id IN (
           SELECT id
           FROM   messages
           WHERE  at <= unixepoch()
           AND    n >= 3
           AND    at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new At
INSERT /* messagesq.Enqueue */ INTO messages
       (at)
VALUES (coalesce(?1, unixepoch()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all At
INSERT /* messagesq.EnqueueMany */ INTO messages
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
SELECT /* messagesq.Stats */
       count(*) FILTER (WHERE at <= unixepoch() AND n < 3) AS ready,
       count(*) FILTER (WHERE at > unixepoch()) AS running,
       count(*) FILTER (WHERE at <= unixepoch() AND n >= 3) AS failed,
       count(*) FILTER (WHERE n < 3 AND at > unixepoch()) AS delayed,
       (unixepoch() - min(at) FILTER (WHERE at <= unixepoch() AND n < 3)) AS oldest_ready
FROM   messages;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* messagesq.Backlog */
       count(*) FILTER (WHERE at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE at > unixepoch()) AS delayed,
       (unixepoch() - min(at) FILTER (WHERE at <= unixepoch())) AS oldest_ready
FROM   messages
WHERE  n < 3;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* messagesq.Peek */
       id, at, n, error
FROM   messages
WHERE  at <= unixepoch()
AND    n < 3
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* messagesq.Verify */
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
WITH /* messagesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('at', 'INTEGER'),
           ('n', 'INTEGER'),
           ('error', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('messages') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
