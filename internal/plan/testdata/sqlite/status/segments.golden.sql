-- Package segmentsq uses the table segments as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: column "since" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: worker Owner, 2: limit
UPDATE /* segmentsq.Claim */ segments
SET    owner = ?1,
       since = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   segments
           WHERE  (since <= unixepoch() - 10 OR owner IS NULL)
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, owner, since;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: worker Owner
UPDATE /* segmentsq.Claim */ segments
SET    owner = ?1,
       since = unixepoch()
WHERE  id = (
           SELECT id
           FROM   segments
           WHERE  (since <= unixepoch() - 10 OR owner IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, owner, since;

-- sql/complete.sql
-- complete: running to done
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since Owner
DELETE /* segmentsq.Complete */ FROM segments
WHERE  (id, since, owner) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?1))
AND    +(owner IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since Owner
UPDATE /* segmentsq.Fail */ segments
SET    owner = NULL,
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    owner = owner_held
      AND    owner IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since Owner
UPDATE /* segmentsq.Requeue */ segments
SET    owner = NULL,
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    owner = owner_held
      AND    owner IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since Owner
UPDATE /* segmentsq.Extend */ segments
SET    since = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    owner = owner_held
      AND    owner IS NOT NULL)
RETURNING id, since;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* segmentsq.Enqueue */ INTO segments
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* segmentsq.Stats */
       count(*) FILTER (WHERE (since <= unixepoch() - 10 OR owner IS NULL)) AS ready,
       count(*) FILTER (WHERE owner IS NOT NULL AND since > unixepoch() - 10) AS running,
       count(*) FILTER (WHERE owner IS NOT NULL AND since <= unixepoch() - 10) AS expired,
       (unixepoch() - min(since) FILTER (WHERE owner IS NOT NULL AND since > unixepoch() - 10)) AS oldest_running
FROM   segments;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* segmentsq.Peek */
       id
FROM   segments
WHERE  (since <= unixepoch() - 10 OR owner IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* segmentsq.Verify */
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
WITH /* segmentsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('owner', 'text'),
           ('since', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('segments') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
