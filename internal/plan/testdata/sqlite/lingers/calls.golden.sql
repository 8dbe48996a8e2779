-- Package callsq uses the table calls as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready or not by till, which stays as it is
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
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
-- note: on retry, column "till" stays as it is, as qgen:on says, and does not get null as qgen:status would
-- note: whether Fail puts the job back is up to what it leaves in column "till", which a condition on ready rows reads, and not known here
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* callsq.Claim */ calls
SET    till = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  ((till is null or till <= unixepoch()) OR (till > unixepoch()))
           AND    (till <= unixepoch() OR (till is null or till <= unixepoch()))
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, till, error;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* callsq.Claim */ calls
SET    till = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   calls
           WHERE  ((till is null or till <= unixepoch()) OR (till > unixepoch()))
           AND    (till <= unixepoch() OR (till is null or till <= unixepoch()))
           ORDER  BY id
           LIMIT  1)
RETURNING id, till, error;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* callsq.Complete */ FROM calls
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +((till > unixepoch()))
RETURNING id;

-- sql/retry.sql
-- retry: running to ready or not
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Till
UPDATE /* callsq.Fail */ calls
SET    error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    (till > unixepoch()))
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* callsq.Requeue */ calls
SET    till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    (till > unixepoch()))
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* callsq.Extend */ calls
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    (till > unixepoch()))
RETURNING id, till;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* callsq.Enqueue */ INTO calls
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
       count(*) FILTER (WHERE ((till is null or till <= unixepoch()) OR (till > unixepoch())) AND (till <= unixepoch() OR (till is null or till <= unixepoch()))) AS ready,
       count(*) FILTER (WHERE (till > unixepoch()) AND till > unixepoch()) AS running,
       count(*) FILTER (WHERE (till > unixepoch()) AND till <= unixepoch()) AS expired
FROM   calls;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* callsq.Peek */
       id, error
FROM   calls
WHERE  ((till is null or till <= unixepoch()) OR (till > unixepoch()))
AND    (till <= unixepoch() OR (till is null or till <= unixepoch()))
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
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
WITH /* callsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('till', 'INTEGER'),
           ('error', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('calls') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
