-- Package tasksq uses the table tasks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, when its claim has run out
-- 	running  --Requeue---------> ready, when its claim has run out
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: on retry, column "since" stays as it is, as qgen:on says, and does not get null as qgen:claimed would
-- note: on release, column "since" stays as it is, as qgen:on says, and does not get null as qgen:claimed would
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* tasksq.Claim */ tasks
SET    since = unixepoch(),
       v = v + 1
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  (since <= unixepoch() - 3600 OR since IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, since, v, error;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* tasksq.Claim */ tasks
SET    since = unixepoch(),
       v = v + 1
WHERE  id = (
           SELECT id
           FROM   tasks
           WHERE  (since <= unixepoch() - 3600 OR since IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, since, v, error;

-- sql/complete.sql
-- complete: running to done
-- fence: v as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID V
DELETE /* tasksq.Complete */ FROM tasks
WHERE  (id, v) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS v_held
           FROM   json_each(?1))
AND    +(since IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running until the claim has run out
-- fence: v as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID V
UPDATE /* tasksq.Fail */ tasks
SET    v = v + 1,
       error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS v_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(v = v_held
      AND    since IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running until the claim has run out, no try used
-- fence: v as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID V
UPDATE /* tasksq.Requeue */ tasks
SET    v = v + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS v_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(v = v_held
      AND    since IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: v as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID V
UPDATE /* tasksq.Extend */ tasks
SET    since = unixepoch(),
       v = v + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS v_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(v = v_held
      AND    since IS NOT NULL)
RETURNING id, v;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* tasksq.Enqueue */ INTO tasks
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE (since <= unixepoch() - 3600 OR since IS NULL)) AS ready,
       count(*) FILTER (WHERE since IS NOT NULL AND since > unixepoch() - 3600) AS running,
       count(*) FILTER (WHERE since IS NOT NULL AND since <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(since) FILTER (WHERE since IS NOT NULL AND since > unixepoch() - 3600)) AS oldest_running
FROM   tasks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, v, error
FROM   tasks
WHERE  (since <= unixepoch() - 3600 OR since IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
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
WITH /* tasksq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('since', 'INTEGER'),
           ('v', 'INTEGER'),
           ('error', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tasks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
