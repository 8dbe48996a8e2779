-- Package notesq uses the table notes as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
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
-- Claims are rows of the table notes_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
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
-- note: enqueue=absent leaves a job out where a row is like it in address (unique key sqlite_autoindex_notes_1)

-- sql/claim.sql
-- claim: ready to running, by a row of notes_lease for each of ready rows
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Token, 2: worker Worker, 3: limit
INSERT /* notesq.Claim */ INTO notes_lease
       (id, token, worker, claimed_until, attempts)
SELECT notes.id, ?1, ?2,
       CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER), 1
FROM   notes NOT INDEXED
WHERE  NOT EXISTS (SELECT 1 FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)))
ORDER  BY id
LIMIT  ?3
ON     CONFLICT (id) DO UPDATE
SET    token = ?1,
       worker = ?2,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       attempts = notes_lease.attempts + 1
WHERE  notes_lease.failed_at IS NULL
AND    notes_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of notes_lease, and the key
-- arguments: 1: token Token
SELECT /* notesq.Claim */
       notes.id, notes.address, notes_lease.token, notes_lease.claimed_until,
       notes_lease.attempts, notes_lease.error
FROM   notes_lease, notes
WHERE  notes_lease.token = ?1
AND    notes_lease.id = notes.id;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
DELETE /* notesq.Complete */ FROM notes_lease
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id)))
RETURNING id;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* notesq.Complete */ FROM notes
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch_all ID Token
UPDATE /* notesq.Fail */ notes_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       error = ?2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?3)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id)))
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* notesq.Requeue */ notes_lease
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
      AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id)))
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* notesq.Extend */ notes_lease
SET    claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id)))
RETURNING id, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: notes_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
UPDATE /* notesq.Recover */ notes_lease
SET    token = NULL,
       worker = NULL
WHERE  id IN (
           SELECT id
           FROM   notes_lease INDEXED BY notes_lease_expired
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the database for writing, while the statement runs
-- index: notes_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
DELETE /* notesq.Recover */ FROM notes_lease
WHERE  id IN (
           SELECT id
           FROM   notes_lease
           WHERE  (NOT EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it returns none
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Address
INSERT /* notesq.Enqueue */ INTO notes
       (address)
VALUES (?1)
ON     CONFLICT DO NOTHING
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Stats */
       count(*) FILTER (WHERE (notes_lease.id IS NULL OR notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))) AS ready,
       count(*) FILTER (WHERE notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE notes_lease.token IS NULL AND notes_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   notes LEFT JOIN notes_lease ON notes_lease.id = notes.id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* notesq.Peek */
       id, address
FROM   notes NOT INDEXED
WHERE  NOT EXISTS (SELECT 1 FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)))
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notesq.Verify */
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
WITH /* notesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('address', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('notes') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_lease.sql
-- verify: columns of notes_lease
-- locks: none
WITH /* notesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
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
LEFT   JOIN pragma_table_xinfo('notes_lease') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
