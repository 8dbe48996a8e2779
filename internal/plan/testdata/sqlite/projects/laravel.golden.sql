-- Package laravelq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_laravel_ready.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "reserved_at" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "available_at" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "attempts" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queue, id, available_at); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string, 2: limit
UPDATE /* laravelq.Claim */ jobs
SET    attempts = attempts + 1,
       reserved_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL)
           AND    available_at <= unixepoch()
           AND    queue = ?1
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, queue, payload, attempts, reserved_at, available_at, created_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queue, id, available_at); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string
UPDATE /* laravelq.Claim */ jobs
SET    attempts = attempts + 1,
       reserved_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL)
           AND    available_at <= unixepoch()
           AND    queue = ?1
           ORDER  BY id
           LIMIT  1)
RETURNING id, queue, payload, attempts, reserved_at, available_at, created_at;

-- sql/complete.sql
-- complete: running to done
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts
DELETE /* laravelq.Complete */ FROM jobs
WHERE  (id, attempts) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?1))
AND    +(reserved_at IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Attempts
UPDATE /* laravelq.Fail */ jobs
SET    reserved_at = NULL,
       available_at = CAST(unixepoch() + ?1 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    reserved_at IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Attempts
UPDATE /* laravelq.Requeue */ jobs
SET    attempts = attempts - 1,
       reserved_at = NULL,
       available_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE available_at END
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    reserved_at IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts
UPDATE /* laravelq.Extend */ jobs
SET    reserved_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    reserved_at IS NOT NULL)
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Queue, 2: new Payload, 3: new AvailableAt
INSERT /* laravelq.Enqueue */ INTO jobs
       (queue, payload, attempts, available_at, created_at)
VALUES (?1, ?2, 0, coalesce(?3, unixepoch()), unixepoch())
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Queue Payload AvailableAt
INSERT /* laravelq.EnqueueMany */ INTO jobs
       (queue, payload, attempts, available_at, created_at)
SELECT queue_new, payload_new, 0, coalesce(available_at_new, unixepoch()), unixepoch()
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS queue_new,
                  json_extract(value, '$[1]') AS payload_new,
                  json_extract(value, '$[2]') AS available_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* laravelq.Stats */
       count(*) FILTER (WHERE (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL) AND available_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE reserved_at IS NOT NULL AND reserved_at > unixepoch() - 90) AS running,
       count(*) FILTER (WHERE available_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE reserved_at IS NOT NULL AND reserved_at <= unixepoch() - 90) AS expired,
       (unixepoch() - min(created_at) FILTER (WHERE (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL) AND available_at <= unixepoch())) AS oldest_ready,
       (unixepoch() - min(reserved_at) FILTER (WHERE reserved_at IS NOT NULL AND reserved_at > unixepoch() - 90)) AS oldest_running
FROM   jobs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue is for
-- locks: none
-- index: (queue, id, available_at)
-- arguments: 1: param queue string
SELECT /* laravelq.StatsOf */
       count(*) FILTER (WHERE (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL) AND available_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE reserved_at IS NOT NULL AND reserved_at > unixepoch() - 90) AS running,
       count(*) FILTER (WHERE available_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE reserved_at IS NOT NULL AND reserved_at <= unixepoch() - 90) AS expired,
       (unixepoch() - min(created_at) FILTER (WHERE (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL) AND available_at <= unixepoch())) AS oldest_ready,
       (unixepoch() - min(reserved_at) FILTER (WHERE reserved_at IS NOT NULL AND reserved_at > unixepoch() - 90)) AS oldest_running
FROM   jobs
WHERE  queue = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue
-- locks: none
-- index: none; it reads the whole table
SELECT /* laravelq.Backlog */
       queue,
       count(*) FILTER (WHERE (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL) AND available_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE available_at > unixepoch()) AS delayed,
       (unixepoch() - min(created_at) FILTER (WHERE (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL) AND available_at <= unixepoch())) AS oldest_ready
FROM   jobs
GROUP  BY +queue
HAVING count(*) FILTER (WHERE (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL) AND available_at <= unixepoch()) > 0
OR     count(*) FILTER (WHERE available_at > unixepoch()) > 0
ORDER  BY +queue;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (queue, id, available_at); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string, 2: limit
SELECT /* laravelq.Peek */
       id, queue, payload, attempts, available_at, created_at
FROM   jobs
WHERE  (reserved_at <= unixepoch() - 90 OR reserved_at IS NULL)
AND    available_at <= unixepoch()
AND    queue = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* laravelq.Verify */
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
WITH /* laravelq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('queue', 'varchar'),
           ('payload', 'text'),
           ('attempts', 'integer'),
           ('reserved_at', 'integer'),
           ('available_at', 'integer'),
           ('created_at', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('jobs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* laravelq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_laravel_ready', 'queue, id', 'queue', '')
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
    FROM   pragma_index_list('jobs') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX jobs_laravel_ready ON jobs (queue, id, available_at);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
