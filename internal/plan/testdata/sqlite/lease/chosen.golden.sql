-- Package chosenq uses the table letters as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table letters_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         SQLite locks the whole database, not rows
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQLite has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running, by a row of letters_lease for each of ready rows
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Token, 2: worker Worker, 3: limit
INSERT /* chosenq.Claim */ INTO letters_lease
       (id, token, worker, claimed_until, attempts)
SELECT letters.id, ?1, ?2,
       CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER), 1
FROM   letters
WHERE  NOT EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)))
ORDER  BY id
LIMIT  ?3
ON     CONFLICT (id) DO UPDATE
SET    token = ?1,
       worker = ?2,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       attempts = letters_lease.attempts + 1
WHERE  letters_lease.failed_at IS NULL
AND    letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of letters_lease, and the key
-- arguments: 1: token Token
SELECT /* chosenq.Claim */
       letters.id, letters.kind, letters.priority, letters.body, letters_lease.token,
       letters_lease.claimed_until, letters_lease.attempts, letters_lease.error
FROM   letters_lease, letters
WHERE  letters_lease.token = ?1
AND    letters_lease.id = letters.id;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
DELETE /* chosenq.Complete */ FROM letters_lease
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* chosenq.Complete */ FROM letters
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
DELETE /* chosenq.Fail */ FROM letters_lease
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id;

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* chosenq.Fail */ FROM letters
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* chosenq.Requeue */ letters_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       attempts = attempts - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* chosenq.Extend */ letters_lease
SET    claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: letters_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
UPDATE /* chosenq.Recover */ letters_lease
SET    token = NULL,
       worker = NULL
WHERE  id IN (
           SELECT id
           FROM   letters_lease INDEXED BY letters_lease_expired
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the database for writing, while the statement runs
-- index: letters_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
DELETE /* chosenq.Recover */ FROM letters_lease
WHERE  id IN (
           SELECT id
           FROM   letters_lease
           WHERE  (NOT EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Kind, 2: new Priority, 3: new Body
INSERT /* chosenq.Enqueue */ INTO letters
       (kind, priority, body)
VALUES (?1, ?2, ?3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Kind Priority Body
INSERT /* chosenq.EnqueueMany */ INTO letters
       (kind, priority, body)
SELECT kind_new, priority_new, body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS kind_new,
                  json_extract(value, '$[1]') AS priority_new,
                  json_extract(value, '$[2]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* chosenq.Stats */
       count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))) AS ready,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* chosenq.Peek */
       id, kind, priority, body
FROM   letters
WHERE  NOT EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)))
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* chosenq.Verify */
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
WITH /* chosenq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('kind', 'varchar(20)'),
           ('priority', 'integer'),
           ('body', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('letters') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_lease.sql
-- verify: columns of letters_lease
-- locks: none
WITH /* chosenq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('token', 'text'),
           ('worker', 'text'),
           ('claimed_until', 'integer'),
           ('attempts', 'integer'),
           ('error', 'text'),
           ('failed_at', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('letters_lease') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
