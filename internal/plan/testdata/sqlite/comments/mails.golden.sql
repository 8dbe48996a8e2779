-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds what its claim wrote to next_try. A worker that comes late gets ErrLost and changes nothing, unless a later claim wrote the same.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until the program starts again; then Recover makes them ready again. Nothing surely keeps a row that runs from being ready as well: a claim takes such a job again, whether its worker has died or not.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: on claim, column "next_try" gets {lease} as qgen:on says, not now as qgen:claimed would
-- note: on retry, column "next_try" gets {next} as qgen:on says, not null as qgen:claimed would
-- note: whether Fail puts the job back is up to what it leaves in column "next_try", which a condition on ready rows reads, and not known here
-- note: rows are taken as they came, by column "id"
-- note: warning: a row with next_try <= [{arg:now}] and next_try is not null is ready and runs at once, and nothing that a claim writes is known to end that: as long as it is so, another claim takes a job that a worker has; qgen:lease, qgen:claimed timeout=…, or a value that tells such rows apart, would keep it away
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: given leaseValue time.Time, 2: param nowValue time.Time, 3: limit
UPDATE /* mailsq.Claim */ mails
SET    next_try = ?1
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  (true)
           AND    (next_try is null or next_try <= ?2)
           ORDER  BY id
           LIMIT  ?3)
RETURNING id, body, next_try;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: given leaseValue time.Time, 2: param nowValue time.Time
UPDATE /* mailsq.Claim */ mails
SET    next_try = ?1
WHERE  id = (
           SELECT id
           FROM   mails
           WHERE  (true)
           AND    (next_try is null or next_try <= ?2)
           ORDER  BY id
           LIMIT  1)
RETURNING id, body, next_try;

-- sql/complete.sql
-- complete: running to done
-- fence: next_try as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID NextTry
DELETE /* mailsq.Complete */ FROM mails
WHERE  (id, next_try) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS next_try_held
           FROM   json_each(?1))
AND    +(next_try IS NOT NULL)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: next_try as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID NextTry
DELETE /* mailsq.Fail */ FROM mails
WHERE  (id, next_try) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS next_try_held
           FROM   json_each(?1))
AND    +(next_try IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: next_try as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID NextTry
UPDATE /* mailsq.Requeue */ mails
SET    next_try = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS next_try_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(next_try = next_try_held
      AND    next_try IS NOT NULL)
RETURNING id;

-- sql/recover.sql
-- recover: running to ready, when the program starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    next_try = NULL
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  next_try IS NOT NULL
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Body
INSERT /* mailsq.Enqueue */ INTO mails
       (body)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Body
INSERT /* mailsq.EnqueueMany */ INTO mails
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
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE (true)) AS ready,
       count(*) FILTER (WHERE next_try IS NOT NULL) AS running
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param nowValue time.Time, 2: limit
SELECT /* mailsq.Peek */
       id, body
FROM   mails
WHERE  (true)
AND    (next_try is null or next_try <= ?1)
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('body', 'TEXT'),
           ('next_try', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
