-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
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
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queue, priority, id) WHERE status IN ('pending', 'retry') AND left_of > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string, 2: limit
UPDATE /* mailsq.Claim */ mails
SET    status = 'running',
       till = unixepoch() + 300,
       left_of = left_of - 1
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  status IN ('pending', 'retry')
           AND    left_of > 0
           AND    queue = ?1
           ORDER  BY priority, id
           LIMIT  ?2)
RETURNING id, queue, till, left_of, priority;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queue, priority, id) WHERE status IN ('pending', 'retry') AND left_of > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string
UPDATE /* mailsq.Claim */ mails
SET    status = 'running',
       till = unixepoch() + 300,
       left_of = left_of - 1
WHERE  id = (
           SELECT id
           FROM   mails
           WHERE  status IN ('pending', 'retry')
           AND    left_of > 0
           AND    queue = ?1
           ORDER  BY priority, id
           LIMIT  1)
RETURNING id, queue, till, left_of, priority;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* mailsq.Complete */ FROM mails
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(status = 'running')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Fail */ mails
SET    status = 'pending',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 'running')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Fail */ mails
SET    status = 'failed',
       till = NULL,
       left_of = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 'running')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Requeue */ mails
SET    status = 'pending',
       till = NULL,
       left_of = left_of + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 'running')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Extend */ mails
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 'running')
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: mails_till (till)
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    status = 'pending',
       till = NULL
WHERE  id IN (
           SELECT id
           FROM   mails INDEXED BY mails_till
           WHERE  status = 'running'
           AND    left_of > 0
           AND    till <= unixepoch()
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: mails_till (till)
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    status = 'failed',
       till = NULL,
       left_of = 0
WHERE  id IN (
           SELECT id
           FROM   mails INDEXED BY mails_till
           WHERE  status = 'running'
           AND    left_of <= 0
           AND    till <= unixepoch()
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: mails_status (status)
-- arguments: 1: limit
UPDATE /* mailsq.Redrive */ mails
SET    status = 'pending',
       till = NULL,
       left_of = 5
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  status = 'failed'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: mails_status (status)
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  status = 'failed'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Queue, 2: new Priority
INSERT /* mailsq.Enqueue */ INTO mails
       (queue, left_of, priority)
VALUES (?1, 5, coalesce(?2, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Queue Priority
INSERT /* mailsq.EnqueueMany */ INTO mails
       (queue, left_of, priority)
SELECT queue_new, 5, coalesce(priority_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS queue_new,
                  json_extract(value, '$[1]') AS priority_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE status IN ('pending', 'retry') AND left_of > 0) AS ready,
       count(*) FILTER (WHERE status = 'running') AS running,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'running' AND till <= unixepoch()) AS expired
FROM   mails;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue is for
-- locks: none
-- index: mails_queue (queue)
-- arguments: 1: param queue string
SELECT /* mailsq.StatsOf */
       count(*) FILTER (WHERE status IN ('pending', 'retry') AND left_of > 0) AS ready,
       count(*) FILTER (WHERE status = 'running') AS running,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'running' AND till <= unixepoch()) AS expired
FROM   mails
WHERE  queue = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue
-- locks: none
-- index: (queue, priority, id) WHERE status IN ('pending', 'retry') AND left_of > 0
SELECT /* mailsq.Backlog */
       queue,
       count(*) AS ready
FROM   mails
WHERE  status IN ('pending', 'retry')
AND    left_of > 0
GROUP  BY +queue
ORDER  BY +queue;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (queue, priority, id) WHERE status IN ('pending', 'retry') AND left_of > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param queue string, 2: limit
SELECT /* mailsq.Peek */
       id, queue, left_of, priority
FROM   mails
WHERE  status IN ('pending', 'retry')
AND    left_of > 0
AND    queue = ?1
ORDER  BY priority, id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('queue', 'text'),
           ('status', 'text'),
           ('till', 'integer'),
           ('left_of', 'integer'),
           ('priority', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* mailsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('mails_ready', 'queue, priority, id', 'queue, priority', 'statusin''pending'',''retry''andleft_of>0'),
           ('mails_till', '', '', '')
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
    FROM   pragma_index_list('mails') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX mails_ready ON mails (queue, priority, id)
WHERE  status IN ('pending', 'retry')
AND    left_of > 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out: mails_till serves already
