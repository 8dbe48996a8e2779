-- Package waitsq uses the table waits as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "since" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "last_at" takes them by their time, and reads none that wait for theirs
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* waitsq.Claim */ waits
SET    since = printf('%014d', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
WHERE  id IN (
           SELECT id
           FROM   waits
           WHERE  (since <= printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 99999999999999))) OR since IS NULL)
           AND    (last_at <= printf('%011d', max(0, min(CAST(unixepoch() - wait_s AS INTEGER), 99999999999))) OR last_at IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, last_at, since, wait_s;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* waitsq.Claim */ waits
SET    since = printf('%014d', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
WHERE  id = (
           SELECT id
           FROM   waits
           WHERE  (since <= printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 99999999999999))) OR since IS NULL)
           AND    (last_at <= printf('%011d', max(0, min(CAST(unixepoch() - wait_s AS INTEGER), 99999999999))) OR last_at IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, last_at, since, wait_s;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
DELETE /* waitsq.Complete */ FROM waits
WHERE  (id, since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    +(since IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* waitsq.Fail */ waits
SET    last_at = printf('%011d', unixepoch()),
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    since IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* waitsq.Requeue */ waits
SET    since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    since IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* waitsq.Extend */ waits
SET    since = printf('%014d', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    since IS NOT NULL)
RETURNING id, since;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new LastAt, 2: new WaitS
INSERT /* waitsq.Enqueue */ INTO waits
       (last_at, wait_s)
VALUES (?1, coalesce(?2, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all LastAt WaitS
INSERT /* waitsq.EnqueueMany */ INTO waits
       (last_at, wait_s)
SELECT last_at_new, coalesce(wait_s_new, 60)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS last_at_new,
                  json_extract(value, '$[1]') AS wait_s_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(*) FILTER (WHERE (since <= printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 99999999999999))) OR since IS NULL) AND (last_at <= printf('%011d', max(0, min(CAST(unixepoch() - wait_s AS INTEGER), 99999999999))) OR last_at IS NULL)) AS ready,
       count(*) FILTER (WHERE since IS NOT NULL AND since > printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 99999999999999)))) AS running,
       count(*) FILTER (WHERE last_at > printf('%011d', max(0, min(CAST(unixepoch() - wait_s AS INTEGER), 99999999999)))) AS delayed,
       count(*) FILTER (WHERE since IS NOT NULL AND since <= printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 99999999999999)))) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - CAST(min(since) FILTER (WHERE since IS NOT NULL AND since > printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 99999999999999)))) AS INTEGER)) / 1000.0) AS oldest_running
FROM   waits;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       id, last_at, wait_s
FROM   waits
WHERE  (since <= printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 99999999999999))) OR since IS NULL)
AND    (last_at <= printf('%011d', max(0, min(CAST(unixepoch() - wait_s AS INTEGER), 99999999999))) OR last_at IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
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
WITH /* waitsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('last_at', 'char(11)'),
           ('since', 'varchar(14)'),
           ('wait_s', 'int')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('waits') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
