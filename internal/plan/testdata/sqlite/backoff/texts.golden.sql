-- Package textsq uses the table texts as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
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
-- note: the fence is the count in column "tries" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* textsq.Claim */ texts
SET    run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds'),
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   texts
           WHERE  run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, run_at, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* textsq.Claim */ texts
SET    run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds'),
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   texts
           WHERE  run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_at, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
DELETE /* textsq.Complete */ FROM texts
WHERE  (id, tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1))
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* textsq.Fail */ texts
SET    run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +((10 * tries))))
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Tries
UPDATE /* textsq.Requeue */ texts
SET    run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(?1))),
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* textsq.Extend */ texts
SET    run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds')
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held)
RETURNING id, run_at;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt
INSERT /* textsq.Enqueue */ INTO texts
       (run_at)
VALUES (coalesce(?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt
INSERT /* textsq.EnqueueMany */ INTO texts
       (run_at)
SELECT coalesce(run_at_new, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
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
SELECT /* textsq.Stats */
       count(*) FILTER (WHERE run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS ready,
       count(*) FILTER (WHERE run_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS running,
       count(*) FILTER (WHERE run_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS delayed,
       ((julianday(strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) - julianday(min(run_at) FILTER (WHERE run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))) * 86400.0) AS oldest_ready
FROM   texts;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* textsq.Peek */
       id, run_at, tries
FROM   texts
WHERE  run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* textsq.Verify */
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
WITH /* textsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('run_at', 'TEXT'),
           ('tries', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('texts') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
