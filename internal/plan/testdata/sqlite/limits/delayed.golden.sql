-- Package delayedq uses the table delayed as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates delayed_ready and delayed_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "locked_at", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* delayedq.Claim */ delayed
SET    state = 'A',
       locked_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   delayed
           WHERE  state = 'N'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, locked_at, attempts, max_attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* delayedq.Claim */ delayed
SET    state = 'A',
       locked_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   delayed
           WHERE  state = 'N'
           ORDER  BY id
           LIMIT  1)
RETURNING id, locked_at, attempts, max_attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: locked_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Complete */ delayed
SET    state = 'D'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: locked_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Fail */ delayed
SET    state = 'N',
       locked_at = NULL,
       attempts = coalesce(attempts, 0) + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: locked_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Fail */ delayed
SET    state = 'F',
       attempts = coalesce(attempts, 0) + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: locked_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Requeue */ delayed
SET    state = 'N',
       locked_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: locked_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt
UPDATE /* delayedq.Extend */ delayed
SET    locked_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    state = 'A')
RETURNING id, locked_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (locked_at) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* delayedq.Recover */ delayed
SET    state = 'N',
       locked_at = NULL,
       attempts = coalesce(attempts, 0) + 1
WHERE  id IN (
           SELECT id
           FROM   delayed
           WHERE  state = 'A'
           AND    (attempts + 1 < coalesce(max_attempts, 3) OR attempts IS NULL)
           AND    (attempts IS NOT NULL OR max_attempts > 1 OR max_attempts IS NULL)
           AND    locked_at <= unixepoch() - 300
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (locked_at) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* delayedq.Recover */ delayed
SET    state = 'F',
       attempts = coalesce(attempts, 0) + 1
WHERE  id IN (
           SELECT id
           FROM   delayed
           WHERE  state = 'A'
           AND    (attempts + 1 >= coalesce(max_attempts, 3) OR attempts IS NULL)
           AND    (attempts IS NOT NULL OR max_attempts <= 1)
           AND    locked_at <= unixepoch() - 300
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* delayedq.Redrive */ delayed
SET    state = 'N',
       locked_at = NULL,
       attempts = 0
WHERE  id IN (
           SELECT id
           FROM   delayed
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (locked_at) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* delayedq.Purge */ FROM delayed
WHERE  id IN (
           SELECT id
           FROM   delayed
           WHERE  state = 'D'
           AND    locked_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (locked_at) WHERE state = 'F' would find them
-- arguments: 1: older, 2: limit
DELETE /* delayedq.Purge */ FROM delayed
WHERE  id IN (
           SELECT id
           FROM   delayed
           WHERE  state = 'F'
           AND    locked_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new MaxAttempts
INSERT /* delayedq.Enqueue */ INTO delayed
       (attempts, max_attempts)
VALUES (0, ?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all MaxAttempts
INSERT /* delayedq.EnqueueMany */ INTO delayed
       (attempts, max_attempts)
SELECT 0, max_attempts_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS max_attempts_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* delayedq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'A' AND locked_at <= unixepoch() - 300) AS expired,
       (unixepoch() - min(locked_at) FILTER (WHERE state = 'A')) AS oldest_running
FROM   delayed;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N'
SELECT /* delayedq.Backlog */
       count(*) AS ready
FROM   delayed
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* delayedq.Peek */
       id, attempts, max_attempts
FROM   delayed
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* delayedq.Verify */
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
WITH /* delayedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('locked_at', 'INTEGER'),
           ('attempts', 'INTEGER'),
           ('max_attempts', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('delayed') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* delayedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('delayed_ready', 'id', 'id', 'state=''n'''),
           ('delayed_expired', 'locked_at', 'locked_at', 'state=''a''')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('delayed') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX delayed_ready ON delayed (id)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX delayed_expired ON delayed (locked_at)
WHERE  state = 'A';
