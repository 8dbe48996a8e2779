-- Package tasksq uses the table tasks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "due" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queue, id, due, kind, tenant, node) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string, 2: param kind []string, 3: param tenant *int64, 4: param node string, 5: limit
UPDATE /* tasksq.Claim */ tasks
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'new'
           AND    (due <= unixepoch() OR due IS NULL)
           AND    queue = ?1
           AND    kind IN (SELECT value FROM json_each(?2))
           AND    (?3 IS NULL OR tenant = ?3)
           AND    (node = ?4 OR node IS NULL)
           ORDER  BY id
           LIMIT  ?5)
RETURNING id, queue, kind, tenant, node, due, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queue, id, due, kind, tenant, node) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string, 2: param kind []string, 3: param tenant *int64, 4: param node string
UPDATE /* tasksq.Claim */ tasks
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   tasks
           WHERE  state = 'new'
           AND    (due <= unixepoch() OR due IS NULL)
           AND    queue = ?1
           AND    kind IN (SELECT value FROM json_each(?2))
           AND    (?3 IS NULL OR tenant = ?3)
           AND    (node = ?4 OR node IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, queue, kind, tenant, node, due, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* tasksq.Complete */ tasks
SET    state = 'over',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* tasksq.Fail */ tasks
SET    state = 'new',
       due = CAST(unixepoch() + ?1 AS INTEGER),
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* tasksq.Requeue */ tasks
SET    state = 'new',
       due = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE due END,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* tasksq.Extend */ tasks
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'new',
       till = NULL
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'busy'
           AND    till <= unixepoch()
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'over'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Queue, 2: new Kind, 3: new Tenant, 4: new Node, 5: new Due
INSERT /* tasksq.Enqueue */ INTO tasks
       (queue, kind, tenant, node, due)
VALUES (?1, ?2, coalesce(?3, 0), ?4, ?5)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Queue Kind Tenant Node Due
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (queue, kind, tenant, node, due)
SELECT queue_new, kind_new, coalesce(tenant_new, 0), node_new, due_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS queue_new,
                  json_extract(value, '$[1]') AS kind_new,
                  json_extract(value, '$[2]') AS tenant_new,
                  json_extract(value, '$[3]') AS node_new,
                  json_extract(value, '$[4]') AS due_new
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
       count(*) FILTER (WHERE state = 'new' AND (due <= unixepoch() OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'new' AND due > unixepoch()) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND till <= unixepoch()) AS expired,
       (unixepoch() - min(due) FILTER (WHERE state = 'new' AND (due <= unixepoch() OR due IS NULL))) AS oldest_ready
FROM   tasks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue, kind, tenant and node is for
-- locks: none
-- index: tasks_queue (queue); it reads others as well
-- arguments: 1: param queue string, 2: param kind []string, 3: param tenant *int64, 4: param node string
SELECT /* tasksq.StatsOf */
       count(*) FILTER (WHERE state = 'new' AND (due <= unixepoch() OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'new' AND due > unixepoch()) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND till <= unixepoch()) AS expired,
       (unixepoch() - min(due) FILTER (WHERE state = 'new' AND (due <= unixepoch() OR due IS NULL))) AS oldest_ready
FROM   tasks
WHERE  queue = ?1
AND    kind IN (SELECT value FROM json_each(?2))
AND    (?3 IS NULL OR tenant = ?3)
AND    (node = ?4 OR node IS NULL);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue, kind, tenant and node
-- locks: none
-- index: (queue, id, due, kind, tenant, node) WHERE state = 'new'
SELECT /* tasksq.Backlog */
       queue,
       kind,
       tenant,
       node,
       count(*) FILTER (WHERE (due <= unixepoch() OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE due > unixepoch()) AS delayed,
       (unixepoch() - min(due) FILTER (WHERE (due <= unixepoch() OR due IS NULL))) AS oldest_ready
FROM   tasks
WHERE  state = 'new'
GROUP  BY +queue, +kind, +tenant, +node
ORDER  BY +queue, +kind, +tenant, +node;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (queue, id, due, kind, tenant, node) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string, 2: param kind []string, 3: param tenant *int64, 4: param node string, 5: limit
SELECT /* tasksq.Peek */
       id, queue, kind, tenant, node, due
FROM   tasks
WHERE  state = 'new'
AND    (due <= unixepoch() OR due IS NULL)
AND    queue = ?1
AND    kind IN (SELECT value FROM json_each(?2))
AND    (?3 IS NULL OR tenant = ?3)
AND    (node = ?4 OR node IS NULL)
ORDER  BY id
LIMIT  ?5;

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
           ('queue', 'TEXT'),
           ('kind', 'TEXT'),
           ('tenant', 'INTEGER'),
           ('node', 'TEXT'),
           ('state', 'TEXT'),
           ('due', 'INTEGER'),
           ('till', 'INTEGER')
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
    VALUES ('tasks_ready', 'queue, id', 'queue', 'state=''new'''),
           ('tasks_expired', 'till', 'till', 'state=''busy''')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; rows of another kind are passed over in it; rows of another tenant are passed over in it; rows of another node are passed over in it
CREATE INDEX tasks_ready ON tasks (queue, id, due, kind, tenant, node)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX tasks_expired ON tasks (till)
WHERE  state = 'busy';
