-- Package tasksq uses the table tasks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready.
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
-- note: no column says when a claim in column "fetched" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: a row whose claim has run out is claimed again, since nothing but column "fetched" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (kind, id) WHERE completed IS NULL AND attempts < 3; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Worker, 2: timeout, 3: param kind string, 4: limit
UPDATE /* tasksq.Claim */ tasks
SET    fetched = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       completed = NULL,
       attempts = attempts + 1,
       worker = ?1
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?2 * 1000 AS INTEGER) OR fetched IS NULL)
           AND    attempts < 3
           AND    kind = ?3
           ORDER  BY id
           LIMIT  ?4)
RETURNING id, kind, fetched, attempts, worker;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (kind, id) WHERE completed IS NULL AND attempts < 3; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Worker, 2: timeout, 3: param kind string
UPDATE /* tasksq.Claim */ tasks
SET    fetched = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       completed = NULL,
       attempts = attempts + 1,
       worker = ?1
WHERE  id = (
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?2 * 1000 AS INTEGER) OR fetched IS NULL)
           AND    attempts < 3
           AND    kind = ?3
           ORDER  BY id
           LIMIT  1)
RETURNING id, kind, fetched, attempts, worker;

-- sql/complete.sql
-- complete: running to done
-- fence: attempts, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts Worker
UPDATE /* tasksq.Complete */ tasks
SET    completed = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    worker = worker_held
      AND    completed IS NULL
      AND    fetched IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: attempts, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts Worker
UPDATE /* tasksq.Fail */ tasks
SET    fetched = NULL,
       completed = NULL,
       worker = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    worker = worker_held
      AND    completed IS NULL
      AND    fetched IS NOT NULL)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: attempts, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts Worker
UPDATE /* tasksq.Fail */ tasks
SET    fetched = NULL,
       completed = NULL,
       worker = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    worker = worker_held
      AND    completed IS NULL
      AND    fetched IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts Worker
UPDATE /* tasksq.Requeue */ tasks
SET    fetched = NULL,
       completed = NULL,
       attempts = attempts - 1,
       worker = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    worker = worker_held
      AND    completed IS NULL
      AND    fetched IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts Worker
UPDATE /* tasksq.Extend */ tasks
SET    fetched = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    worker = worker_held
      AND    completed IS NULL
      AND    fetched IS NOT NULL)
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: timeout, 2: limit
UPDATE /* tasksq.Redrive */ tasks
SET    fetched = NULL,
       completed = NULL,
       attempts = 0,
       worker = NULL
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL)
           AND    attempts >= 3
           LIMIT  ?2);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (completed) WHERE completed IS NOT NULL would find them
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  completed IS NOT NULL
           AND    completed <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (fetched) WHERE completed IS NULL AND attempts >= 3 would find them
-- arguments: 1: timeout, 2: older, 3: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL)
           AND    attempts >= 3
           AND    fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?2 * 1000 AS INTEGER)
           LIMIT  ?3);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Kind
INSERT /* tasksq.Enqueue */ INTO tasks
       (kind)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Kind
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (kind)
SELECT kind_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS kind_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE completed IS NULL AND (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL) AND attempts < 3) AS ready,
       count(*) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE completed IS NOT NULL) AS done,
       count(*) FILTER (WHERE completed IS NULL AND (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL) AND attempts >= 3) AS failed,
       count(*) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(fetched) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER))) / 1000.0) AS oldest_running
FROM   tasks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout, 2: param kind string
SELECT /* tasksq.StatsOf */
       count(*) FILTER (WHERE completed IS NULL AND (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL) AND attempts < 3) AS ready,
       count(*) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE completed IS NOT NULL) AS done,
       count(*) FILTER (WHERE completed IS NULL AND (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL) AND attempts >= 3) AS failed,
       count(*) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(fetched) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER))) / 1000.0) AS oldest_running
FROM   tasks
WHERE  kind = ?2;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (kind, id) WHERE completed IS NULL AND attempts < 3; it reads others as well
-- arguments: 1: timeout
SELECT /* tasksq.Backlog */
       kind,
       count(*) AS ready
FROM   tasks
WHERE  completed IS NULL
AND    (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL)
AND    attempts < 3
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, id) WHERE completed IS NULL AND attempts < 3; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: timeout, 2: param kind string, 3: limit
SELECT /* tasksq.Peek */
       id, kind, attempts
FROM   tasks
WHERE  completed IS NULL
AND    (fetched <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR fetched IS NULL)
AND    attempts < 3
AND    kind = ?2
ORDER  BY id
LIMIT  ?3;

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
           ('kind', 'TEXT'),
           ('fetched', 'INTEGER'),
           ('completed', 'INTEGER'),
           ('attempts', 'INTEGER'),
           ('worker', 'TEXT')
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
    VALUES ('tasks_ready', 'kind, id', 'kind', 'completedisnullandattempts<3')
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
CREATE INDEX tasks_ready ON tasks (kind, id)
WHERE  completed IS NULL
AND    attempts < 3;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
