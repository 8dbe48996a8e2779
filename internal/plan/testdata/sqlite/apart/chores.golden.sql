-- Package choresq uses the table chores as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	done     --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: chores_state (state)
-- arguments: 1: limit
UPDATE /* choresq.Claim */ chores
SET    state = 'A'
WHERE  id IN (
           SELECT id
           FROM   chores INDEXED BY chores_state
           WHERE  state = 'N'
           AND    (beyond > unixepoch() OR beyond IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, made, beyond;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: chores_state (state)
UPDATE /* choresq.Claim */ chores
SET    state = 'A'
WHERE  id = (
           SELECT id
           FROM   chores INDEXED BY chores_state
           WHERE  state = 'N'
           AND    (beyond > unixepoch() OR beyond IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, made, beyond;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* choresq.Complete */ chores
SET    state = 'D'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* choresq.Fail */ chores
SET    state = 'E'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* choresq.Requeue */ chores
SET    state = 'N'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'A')
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: chores_state (state)
-- arguments: 1: limit
UPDATE /* choresq.Redrive */ chores
SET    state = 'N'
WHERE  id IN (
           SELECT id
           FROM   chores
           WHERE  state = 'E'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: chores_state (state); it reads those that are not old enough as well, which one on (made) WHERE state = 'D' would not
-- arguments: 1: older, 2: limit
DELETE /* choresq.Purge */ FROM chores
WHERE  id IN (
           SELECT id
           FROM   chores
           WHERE  state = 'D'
           AND    made <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_overdue.sql
-- purge_overdue: ready and past its time to gone
-- locks: the database for writing, while the statement runs
-- index: chores_state (state); it reads those that are not old enough as well, which one on (beyond) WHERE state = 'N' would not
-- arguments: 1: older, 2: limit
DELETE /* choresq.Purge */ FROM chores
WHERE  id IN (
           SELECT id
           FROM   chores
           WHERE  state = 'N'
           AND    beyond <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Beyond
INSERT /* choresq.Enqueue */ INTO chores
       (made, beyond)
VALUES (unixepoch(), ?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Beyond
INSERT /* choresq.EnqueueMany */ INTO chores
       (made, beyond)
SELECT unixepoch(), beyond_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS beyond_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* choresq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (beyond > unixepoch() OR beyond IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       (unixepoch() - min(made) FILTER (WHERE state = 'N' AND (beyond > unixepoch() OR beyond IS NULL))) AS oldest_ready
FROM   chores;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: chores_state (state); it reads others as well
SELECT /* choresq.Backlog */
       count(*) AS ready,
       (unixepoch() - min(made)) AS oldest_ready
FROM   chores
WHERE  state = 'N'
AND    (beyond > unixepoch() OR beyond IS NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: chores_state (state)
-- arguments: 1: limit
SELECT /* choresq.Peek */
       id, made, beyond
FROM   chores INDEXED BY chores_state
WHERE  state = 'N'
AND    (beyond > unixepoch() OR beyond IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* choresq.Verify */
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
WITH /* choresq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('state', 'text'),
           ('made', 'integer'),
           ('beyond', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('chores') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* choresq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('chores_state', '', '', '')
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
    FROM   pragma_index_list('chores') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: chores_state serves already
