-- Package cardsq uses the table cards as a queue of jobs on SQLite 3.38 and later.
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
--   token        not needed: returning comes first
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Mark, 2: lease, 3: limit
UPDATE /* cardsq.Claim */ cards
SET    mark = ?1,
       till = CAST((julianday('now') - 2440587.5) * 86400000 + ?2 * 1000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   cards
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
           ORDER  BY id
           LIMIT  ?3)
RETURNING id, body, mark, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Mark, 2: lease
UPDATE /* cardsq.Claim */ cards
SET    mark = ?1,
       till = CAST((julianday('now') - 2440587.5) * 86400000 + ?2 * 1000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   cards
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, body, mark, till;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* cardsq.Complete */ FROM cards
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
AND    +(till IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
UPDATE /* cardsq.Fail */ cards
SET    mark = NULL,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held
      AND    till IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
UPDATE /* cardsq.Requeue */ cards
SET    mark = NULL,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held
      AND    till IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: lease, 2: batch_all ID Mark
UPDATE /* cardsq.Extend */ cards
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held
      AND    till IS NOT NULL)
RETURNING id, till;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Body
INSERT /* cardsq.Enqueue */ INTO cards
       (body)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Body
INSERT /* cardsq.EnqueueMany */ INTO cards
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
SELECT /* cardsq.Stats */
       count(*) FILTER (WHERE (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   cards;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* cardsq.Peek */
       id, body
FROM   cards
WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* cardsq.Verify */
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
WITH /* cardsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('body', 'TEXT'),
           ('mark', 'TEXT'),
           ('till', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('cards') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
