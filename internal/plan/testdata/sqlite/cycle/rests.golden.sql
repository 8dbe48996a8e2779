-- Package restsq uses the table rests as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each; with nil one is never due again. Who wants one to end deletes its row.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "run_at"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* restsq.Claim */ rests
SET    run_at = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       ver = ver + 1
WHERE  id IN (
           SELECT id
           FROM   rests
           WHERE  run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, run_at, ver;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* restsq.Claim */ rests
SET    run_at = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       ver = ver + 1
WHERE  id = (
           SELECT id
           FROM   rests
           WHERE  run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_at, ver;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: ver as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Ver Next
UPDATE /* restsq.Complete */ rests
SET    run_at = run_at_held,
       ver = ver + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS ver_held,
                  json_extract(value, '$[2]') AS run_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(ver = ver_held)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: ver as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Ver
UPDATE /* restsq.Fail */ rests
SET    run_at = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
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
UPDATE /* restsq.Requeue */ rests
SET    run_at = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
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
UPDATE /* restsq.Extend */ rests
SET    run_at = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       ver = ver + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS ver_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(ver = ver_held)
RETURNING id, run_at, ver;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt
INSERT /* restsq.Enqueue */ INTO rests
       (run_at, ver)
VALUES (?1, 0)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt
INSERT /* restsq.EnqueueMany */ INTO rests
       (run_at, ver)
SELECT run_at_new, 0
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS run_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* restsq.Stats */
       count(*) FILTER (WHERE run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS ready,
       count(*) FILTER (WHERE run_at > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE run_at > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(run_at) FILTER (WHERE run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))) / 1000.0) AS oldest_ready
FROM   rests;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* restsq.Peek */
       id, ver
FROM   rests
WHERE  run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* restsq.Verify */
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
WITH /* restsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('run_at', 'INTEGER'),
           ('ver', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('rests') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
