-- Package uploadsq uses the table uploads as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and its recoveries are spent
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those whose recoveries are spent failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates uploads_ready and uploads_expired.
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
-- note: on giveup, column "message" gets 'reset too often' as qgen:on says, not 'the claim ran out' as qgen:error would
-- note: rows are taken as they came, by column "id"
-- note: warning: a running row whose seen is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'queued'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Held, 2: limit
UPDATE /* uploadsq.Claim */ uploads
SET    state = 'processing',
       held = ?1,
       seen = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   uploads
           WHERE  state = 'queued'
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, held, num_failures, num_resets, message;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'queued'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Held
UPDATE /* uploadsq.Claim */ uploads
SET    state = 'processing',
       held = ?1,
       seen = unixepoch()
WHERE  id = (
           SELECT id
           FROM   uploads
           WHERE  state = 'queued'
           ORDER  BY id
           LIMIT  1)
RETURNING id, held, num_failures, num_resets, message;

-- sql/complete.sql
-- complete: running to done
-- fence: held as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Held
UPDATE /* uploadsq.Complete */ uploads
SET    state = 'completed'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held = held_held
      AND    state = 'processing')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: held as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Held
UPDATE /* uploadsq.Fail */ uploads
SET    state = 'queued',
       held = NULL,
       num_failures = num_failures + 1,
       message = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(held = held_held
      AND    state = 'processing')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: held as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Held
UPDATE /* uploadsq.Fail */ uploads
SET    state = 'failed',
       num_failures = num_failures + 1,
       message = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(held = held_held
      AND    state = 'processing')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Held
UPDATE /* uploadsq.Requeue */ uploads
SET    state = 'queued',
       held = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held = held_held
      AND    state = 'processing')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Held
UPDATE /* uploadsq.Extend */ uploads
SET    seen = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held = held_held
      AND    state = 'processing')
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (seen) WHERE state = 'processing'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ uploads
SET    state = 'queued',
       held = NULL,
       num_resets = num_resets + 1
WHERE  id IN (
           SELECT id
           FROM   uploads
           WHERE  state = 'processing'
           AND    num_resets < 2
           AND    seen <= unixepoch() - 25
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim, whose recoveries are spent, to failed
-- locks: the database for writing, while the statement runs
-- index: (seen) WHERE state = 'processing'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ uploads
SET    state = 'failed',
       message = 'reset too often'
WHERE  id IN (
           SELECT id
           FROM   uploads
           WHERE  state = 'processing'
           AND    num_resets >= 2
           AND    seen <= unixepoch() - 25
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* uploadsq.Redrive */ uploads
SET    state = 'queued',
       held = NULL,
       num_failures = 0,
       num_resets = 0
WHERE  id IN (
           SELECT id
           FROM   uploads
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'completed' would find them
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ FROM uploads
WHERE  id IN (
           SELECT id
           FROM   uploads
           WHERE  state = 'completed'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ FROM uploads
WHERE  id IN (
           SELECT id
           FROM   uploads
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* uploadsq.Enqueue */ INTO uploads
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* uploadsq.Stats */
       count(*) FILTER (WHERE state = 'queued') AS ready,
       count(*) FILTER (WHERE state = 'processing') AS running,
       count(*) FILTER (WHERE state = 'completed') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'processing' AND seen <= unixepoch() - 25) AS expired
FROM   uploads;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'queued'
SELECT /* uploadsq.Backlog */
       count(*) AS ready
FROM   uploads
WHERE  state = 'queued';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'queued'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* uploadsq.Peek */
       id, num_failures, num_resets, message
FROM   uploads
WHERE  state = 'queued'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* uploadsq.Verify */
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
WITH /* uploadsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('held', 'TEXT'),
           ('seen', 'INTEGER'),
           ('num_failures', 'INTEGER'),
           ('num_resets', 'INTEGER'),
           ('message', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('uploads') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* uploadsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('uploads_ready', 'id', 'id', 'state=''queued'''),
           ('uploads_expired', 'seen', 'seen', 'state=''processing''')
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
    FROM   pragma_index_list('uploads') AS l
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
CREATE INDEX uploads_ready ON uploads (id)
WHERE  state = 'queued';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX uploads_expired ON uploads (seen)
WHERE  state = 'processing';
