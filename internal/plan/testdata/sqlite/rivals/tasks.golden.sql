-- Package tasksq uses the table tasks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
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
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: the fence compares column "locked_at", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: tasks_in_order (failed_at, priority DESC, id, run_at, name) WHERE failed_at IS NULL
-- arguments: 1: worker LockedBy, 2: param name []string, 3: limit
UPDATE /* tasksq.Claim */ tasks
SET    locked_by = ?1,
       locked_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   tasks INDEXED BY tasks_in_order
           WHERE  failed_at IS NULL
           AND    (locked_at <= unixepoch() - 3600 OR locked_at IS NULL)
           AND    attempts < 25
           AND    +(run_at <= unixepoch())
           AND    +(name IN (SELECT value FROM json_each(?2)))
           ORDER  BY priority DESC, id
           LIMIT  ?3)
RETURNING id, name, priority, run_at, attempts, locked_by, locked_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: tasks_in_order (failed_at, priority DESC, id, run_at, name) WHERE failed_at IS NULL
-- arguments: 1: worker LockedBy, 2: param name []string
UPDATE /* tasksq.Claim */ tasks
SET    locked_by = ?1,
       locked_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   tasks INDEXED BY tasks_in_order
           WHERE  failed_at IS NULL
           AND    (locked_at <= unixepoch() - 3600 OR locked_at IS NULL)
           AND    attempts < 25
           AND    +(run_at <= unixepoch())
           AND    +(name IN (SELECT value FROM json_each(?2)))
           ORDER  BY priority DESC, id
           LIMIT  1)
RETURNING id, name, priority, run_at, attempts, locked_by, locked_at;

-- sql/complete.sql
-- complete: running to done
-- fence: locked_at, locked_by as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt LockedBy
DELETE /* tasksq.Complete */ FROM tasks
WHERE  (id, locked_at, locked_by) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held,
                  json_extract(value, '$[2]') AS locked_by_held
           FROM   json_each(?1))
AND    +(locked_at IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: locked_at, locked_by as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID LockedAt LockedBy
UPDATE /* tasksq.Fail */ tasks
SET    run_at = CAST(unixepoch() + ?1 AS INTEGER),
       attempts = attempts + 1,
       locked_by = NULL,
       locked_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held,
                  json_extract(value, '$[2]') AS locked_by_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    locked_by = locked_by_held
      AND    locked_at IS NOT NULL)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: locked_at, locked_by as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt LockedBy
UPDATE /* tasksq.Fail */ tasks
SET    attempts = attempts + 1,
       locked_by = NULL,
       locked_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held,
                  json_extract(value, '$[2]') AS locked_by_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    locked_by = locked_by_held
      AND    locked_at IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: locked_at, locked_by as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID LockedAt LockedBy
UPDATE /* tasksq.Requeue */ tasks
SET    run_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE run_at END,
       locked_by = NULL,
       locked_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held,
                  json_extract(value, '$[2]') AS locked_by_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    locked_by = locked_by_held
      AND    locked_at IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: locked_at, locked_by as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LockedAt LockedBy
UPDATE /* tasksq.Extend */ tasks
SET    locked_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS locked_at_held,
                  json_extract(value, '$[2]') AS locked_by_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(locked_at = locked_at_held
      AND    locked_by = locked_by_held
      AND    locked_at IS NOT NULL)
RETURNING id, locked_at;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: tasks_failed_at (failed_at); it reads others as well
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ tasks
SET    attempts = 0,
       locked_by = NULL,
       locked_at = NULL
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  failed_at IS NULL
           AND    (locked_at <= unixepoch() - 3600 OR locked_at IS NULL)
           AND    attempts >= 25
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: tasks_failed_at (failed_at); it reads others as well, which one on (locked_at) WHERE failed_at IS NULL AND attempts >= 25 would not
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  failed_at IS NULL
           AND    (locked_at <= unixepoch() - 3600 OR locked_at IS NULL)
           AND    attempts >= 25
           AND    locked_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Name, 2: new Priority, 3: new RunAt
INSERT /* tasksq.Enqueue */ INTO tasks
       (name, priority, run_at, attempts)
VALUES (?1, ?2, coalesce(?3, unixepoch()), 0)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Name Priority RunAt
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (name, priority, run_at, attempts)
SELECT name_new, priority_new, coalesce(run_at_new, unixepoch()), 0
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS name_new,
                  json_extract(value, '$[1]') AS priority_new,
                  json_extract(value, '$[2]') AS run_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE failed_at IS NULL AND (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND attempts < 25 AND run_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE locked_at IS NOT NULL AND locked_at > unixepoch() - 3600) AS running,
       count(*) FILTER (WHERE failed_at IS NULL AND (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND attempts >= 25) AS failed,
       count(*) FILTER (WHERE failed_at IS NULL AND attempts < 25 AND run_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE locked_at IS NOT NULL AND locked_at <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(run_at) FILTER (WHERE failed_at IS NULL AND (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND attempts < 25 AND run_at <= unixepoch())) AS oldest_ready,
       (unixepoch() - min(locked_at) FILTER (WHERE locked_at IS NOT NULL AND locked_at > unixepoch() - 3600)) AS oldest_running
FROM   tasks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same name is for
-- locks: none
-- index: tasks_name (name)
-- arguments: 1: param name []string
SELECT /* tasksq.StatsOf */
       count(*) FILTER (WHERE failed_at IS NULL AND (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND attempts < 25 AND run_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE locked_at IS NOT NULL AND locked_at > unixepoch() - 3600) AS running,
       count(*) FILTER (WHERE failed_at IS NULL AND (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND attempts >= 25) AS failed,
       count(*) FILTER (WHERE failed_at IS NULL AND attempts < 25 AND run_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE locked_at IS NOT NULL AND locked_at <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(run_at) FILTER (WHERE failed_at IS NULL AND (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND attempts < 25 AND run_at <= unixepoch())) AS oldest_ready,
       (unixepoch() - min(locked_at) FILTER (WHERE locked_at IS NOT NULL AND locked_at > unixepoch() - 3600)) AS oldest_running
FROM   tasks
WHERE  name IN (SELECT value FROM json_each(?1));

-- sql/backlog.sql
-- backlog: counts the rows that wait, by name
-- locks: none
-- index: tasks_failed_at (failed_at); it reads others as well
SELECT /* tasksq.Backlog */
       name,
       count(*) FILTER (WHERE (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND run_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE run_at > unixepoch()) AS delayed,
       (unixepoch() - min(run_at) FILTER (WHERE (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND run_at <= unixepoch())) AS oldest_ready
FROM   tasks
WHERE  failed_at IS NULL
AND    attempts < 25
GROUP  BY +name
HAVING count(*) FILTER (WHERE (locked_at <= unixepoch() - 3600 OR locked_at IS NULL) AND run_at <= unixepoch()) > 0
OR     count(*) FILTER (WHERE run_at > unixepoch()) > 0
ORDER  BY +name;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: tasks_in_order (failed_at, priority DESC, id, run_at, name) WHERE failed_at IS NULL
-- arguments: 1: param name []string, 2: limit
SELECT /* tasksq.Peek */
       id, name, priority, run_at, attempts
FROM   tasks INDEXED BY tasks_in_order
WHERE  failed_at IS NULL
AND    (locked_at <= unixepoch() - 3600 OR locked_at IS NULL)
AND    attempts < 25
AND    +(run_at <= unixepoch())
AND    +(name IN (SELECT value FROM json_each(?1)))
ORDER  BY priority DESC, id
LIMIT  ?2;

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
    VALUES ('id', 'integer'),
           ('name', 'text'),
           ('priority', 'integer'),
           ('run_at', 'integer'),
           ('attempts', 'integer'),
           ('failed_at', 'integer'),
           ('locked_by', 'text'),
           ('locked_at', 'integer')
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
    VALUES ('tasks_in_order', '', '', '')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it; rows of another name are passed over in it; those whose tries are spent are few, and are read and passed over: tasks_in_order serves already
