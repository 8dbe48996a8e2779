-- Package buildsq uses the table builds as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates builds_ready.
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
-- note: the fence is the status, and two claims of one worker look alike: with qgen:claimed at column "last_ping" beside heartbeat the time there is the fence, which Extend writes as before
-- note: warning: a running row whose last_ping is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority, id) WHERE worker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Worker, 2: limit
UPDATE /* buildsq.Claim */ builds
SET    worker = ?1,
       last_ping = strftime('%Y-%m-%d %H:%M:%f', 'now')
WHERE  id IN (
           SELECT id
           FROM   builds
           WHERE  worker IS NULL
           ORDER  BY priority, id
           LIMIT  ?2)
RETURNING id, priority, worker;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority, id) WHERE worker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Worker
UPDATE /* buildsq.Claim */ builds
SET    worker = ?1,
       last_ping = strftime('%Y-%m-%d %H:%M:%f', 'now')
WHERE  id = (
           SELECT id
           FROM   builds
           WHERE  worker IS NULL
           ORDER  BY priority, id
           LIMIT  1)
RETURNING id, priority, worker;

-- sql/complete.sql
-- complete: running to done
-- fence: worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Worker
DELETE /* buildsq.Complete */ FROM builds
WHERE  (id, worker) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS worker_held
           FROM   json_each(?1))
AND    +(worker IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Worker
UPDATE /* buildsq.Fail */ builds
SET    worker = NULL,
       last_ping = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(worker = worker_held
      AND    worker IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Worker
UPDATE /* buildsq.Requeue */ builds
SET    worker = NULL,
       last_ping = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(worker = worker_held
      AND    worker IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Worker
UPDATE /* buildsq.Extend */ builds
SET    last_ping = strftime('%Y-%m-%d %H:%M:%f', 'now')
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(worker = worker_held
      AND    worker IS NOT NULL)
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: builds_ping (last_ping)
-- arguments: 1: limit
UPDATE /* buildsq.Recover */ builds
SET    worker = NULL,
       last_ping = NULL
WHERE  id IN (
           SELECT id
           FROM   builds INDEXED BY builds_ping
           WHERE  worker IS NOT NULL
           AND    last_ping <= strftime('%Y-%m-%d %H:%M:%f', 'now', '-540 seconds')
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Priority
INSERT /* buildsq.Enqueue */ INTO builds
       (priority)
VALUES (coalesce(?1, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Priority
INSERT /* buildsq.EnqueueMany */ INTO builds
       (priority)
SELECT coalesce(priority_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS priority_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(*) FILTER (WHERE worker IS NULL) AS ready,
       count(*) FILTER (WHERE worker IS NOT NULL) AS running,
       count(*) FILTER (WHERE worker IS NOT NULL AND last_ping <= strftime('%Y-%m-%d %H:%M:%f', 'now', '-540 seconds')) AS expired
FROM   builds;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority, id) WHERE worker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* buildsq.Peek */
       id, priority
FROM   builds
WHERE  worker IS NULL
ORDER  BY priority, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
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
WITH /* buildsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('priority', 'integer'),
           ('worker', 'integer'),
           ('last_ping', 'datetime')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('builds') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* buildsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('builds_ready', 'priority, id', 'priority', 'workerisnull'),
           ('builds_ping', '', '', '')
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
    FROM   pragma_index_list('builds') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX builds_ready ON builds (priority, id)
WHERE  worker IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out: builds_ping serves already
