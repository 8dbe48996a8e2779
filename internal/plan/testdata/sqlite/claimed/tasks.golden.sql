-- Package tasksq uses the table tasks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready and tasks_expired.
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

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'pending'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* tasksq.Claim */ tasks
SET    state = 'waiting',
       till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = tries + 1,
       version = version + 1,
       claimed_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'pending'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, till, tries, version, why;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'pending'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* tasksq.Claim */ tasks
SET    state = 'waiting',
       till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = tries + 1,
       version = version + 1,
       claimed_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   tasks
           WHERE  state = 'pending'
           ORDER  BY id
           LIMIT  1)
RETURNING id, till, tries, version, why;

-- sql/start.sql
-- start: claimed to running
-- fence: version as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Version
UPDATE /* tasksq.Start */ tasks
SET    state = 'running',
       version = version + 1,
       started_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS version_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(version = version_held
      AND    state = 'waiting')
RETURNING id, version;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: version as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Version
UPDATE /* tasksq.Complete */ tasks
SET    state = 'successful',
       till = NULL,
       version = version + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS version_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(version = version_held
      AND    state IN ('waiting', 'running'))
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: version as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Version
UPDATE /* tasksq.Fail */ tasks
SET    state = 'pending',
       till = NULL,
       version = version + 1,
       why = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS version_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(version = version_held
      AND    state IN ('waiting', 'running'))
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: version as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Version
UPDATE /* tasksq.Fail */ tasks
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS version_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(version = version_held
      AND    state IN ('waiting', 'running'))
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: version as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Version
UPDATE /* tasksq.Requeue */ tasks
SET    state = 'pending',
       till = NULL,
       tries = tries - 1,
       version = version + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS version_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(version = version_held
      AND    state IN ('waiting', 'running'))
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: version as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Version
UPDATE /* tasksq.Extend */ tasks
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       version = version + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS version_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(version = version_held
      AND    state IN ('waiting', 'running'))
RETURNING id, till, version;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state IN ('waiting', 'running'); until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'pending',
       till = NULL,
       version = version + 1
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state IN ('waiting', 'running')
           AND    tries < 3
           AND    till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state IN ('waiting', 'running'); until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = 'the claim ran out'
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state IN ('waiting', 'running')
           AND    tries >= 3
           AND    till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ tasks
SET    state = 'pending',
       till = NULL,
       tries = 0,
       version = version + 1
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'successful' would find them
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'successful'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* tasksq.Enqueue */ INTO tasks
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE state = 'pending') AS ready,
       count(*) FILTER (WHERE state = 'waiting') AS claimed,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'successful') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('waiting', 'running') AND till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'pending'
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'pending'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, tries, version, why
FROM   tasks
WHERE  state = 'pending'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
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
WITH /* tasksq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('till', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('version', 'INTEGER'),
           ('claimed_at', 'INTEGER'),
           ('started_at', 'INTEGER'),
           ('why', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tasks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* tasksq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('tasks_ready', 'id', 'id', 'state=''pending'''),
           ('tasks_expired', 'till', 'till', 'statein''waiting'',''running''')
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
    FROM   pragma_index_list('tasks') AS l
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
CREATE INDEX tasks_ready ON tasks (id)
WHERE  state = 'pending';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX tasks_expired ON tasks (till)
WHERE  state IN ('waiting', 'running');
