-- Package messagesq uses the table messages as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
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
--   token        the unique index sqlite_autoindex_messages_1 lets no two rows have one token, so that it cannot be the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "taken" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index sqlite_autoindex_messages_1 lets no two rows have one token: every claim leaves a fresh value in each row

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* messagesq.Claim */ messages
SET    handle = lower(hex(randomblob(16))),
       taken = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   messages NOT INDEXED
           WHERE  (taken <= unixepoch() - 30 OR taken IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, handle, taken, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* messagesq.Claim */ messages
SET    handle = lower(hex(randomblob(16))),
       taken = unixepoch()
WHERE  id = (
           SELECT id
           FROM   messages NOT INDEXED
           WHERE  (taken <= unixepoch() - 30 OR taken IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, handle, taken, body;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Handle
DELETE /* messagesq.Complete */ FROM messages
WHERE  (id, handle) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS handle_held
           FROM   json_each(?1))
AND    +(taken IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: handle as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Handle
UPDATE /* messagesq.Fail */ messages
SET    handle = NULL,
       taken = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS handle_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(handle = handle_held
      AND    taken IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: handle as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Handle
UPDATE /* messagesq.Requeue */ messages
SET    handle = NULL,
       taken = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS handle_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(handle = handle_held
      AND    taken IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: handle as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Handle
UPDATE /* messagesq.Extend */ messages
SET    taken = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS handle_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(handle = handle_held
      AND    taken IS NOT NULL)
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Body
INSERT /* messagesq.Enqueue */ INTO messages
       (body)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Body
INSERT /* messagesq.EnqueueMany */ INTO messages
       (body)
SELECT body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS body_new
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
       count(*) FILTER (WHERE (taken <= unixepoch() - 30 OR taken IS NULL)) AS ready,
       count(*) FILTER (WHERE taken IS NOT NULL AND taken > unixepoch() - 30) AS running,
       count(*) FILTER (WHERE taken IS NOT NULL AND taken <= unixepoch() - 30) AS expired,
       (unixepoch() - min(taken) FILTER (WHERE taken IS NOT NULL AND taken > unixepoch() - 30)) AS oldest_running
FROM   messages;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* messagesq.Peek */
       id, body
FROM   messages NOT INDEXED
WHERE  (taken <= unixepoch() - 30 OR taken IS NULL)
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
    VALUES ('id', 'integer'),
           ('handle', 'text'),
           ('taken', 'integer'),
           ('body', 'text')
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
