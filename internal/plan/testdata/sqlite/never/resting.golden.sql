-- Package restingq uses the table resting as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "at" takes them by their time, and reads none that wait for theirs
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* restingq.Claim */ resting
SET    at = unixepoch() + 1000,
       ver = ver + 1
WHERE  id IN (
           SELECT id
           FROM   resting
           WHERE  at <= unixepoch()
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, at, ver;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* restingq.Claim */ resting
SET    at = unixepoch() + 1000,
       ver = ver + 1
WHERE  id = (
           SELECT id
           FROM   resting
           WHERE  at <= unixepoch()
           ORDER  BY id
           LIMIT  1)
RETURNING id, at, ver;

-- sql/complete.sql
-- complete: running to done
-- fence: ver as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Ver
DELETE /* restingq.Complete */ FROM resting
WHERE  (id, ver) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS ver_held
           FROM   json_each(?1))
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: ver as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Ver
UPDATE /* restingq.Fail */ resting
SET    at = CAST(unixepoch() + ?1 AS INTEGER),
       ver = ver + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS ver_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(ver = ver_held)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: ver as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Ver
UPDATE /* restingq.Requeue */ resting
SET    at = CAST(unixepoch() + ?1 AS INTEGER),
       ver = ver + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS ver_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(ver = ver_held)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: ver as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Ver
UPDATE /* restingq.Extend */ resting
SET    at = unixepoch() + 1000,
       ver = ver + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS ver_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(ver = ver_held)
RETURNING id, at, ver;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new At
INSERT /* restingq.Enqueue */ INTO resting
       (at, ver)
VALUES (?1, 0)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all At
INSERT /* restingq.EnqueueMany */ INTO resting
       (at, ver)
SELECT at_new, 0
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
SELECT /* restingq.Stats */
       count(*) FILTER (WHERE at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE at > unixepoch()) AS running,
       count(*) FILTER (WHERE at > unixepoch()) AS delayed,
       (unixepoch() - min(at) FILTER (WHERE at <= unixepoch())) AS oldest_ready
FROM   resting;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* restingq.Peek */
       id, ver
FROM   resting
WHERE  at <= unixepoch()
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* restingq.Verify */
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
WITH /* restingq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('at', 'INTEGER'),
           ('ver', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('resting') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
