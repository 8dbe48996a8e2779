-- Package litequeue uses the table main.Queue as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates Queue_litequeue_ready and Queue_litequeue_expired and Queue_litequeue_key.
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
-- note: warning: nothing in the schema makes message_id unique, only the annotation says so: of two rows that are alike in it, whoever settles one can settle the other with it; a unique key rules that out
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "in_time"
-- note: the fence compares column "lock_time", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (in_time, message_id) WHERE status = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* litequeue.Claim */ main."Queue"
SET    status = 1,
       lock_time = unixepoch()
WHERE  rowid IN (
           SELECT rowid
           FROM   main."Queue"
           WHERE  status = 0
           ORDER  BY in_time, message_id
           LIMIT  ?1)
RETURNING message, message_id, in_time, lock_time;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (in_time, message_id) WHERE status = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* litequeue.Claim */ main."Queue"
SET    status = 1,
       lock_time = unixepoch()
WHERE  rowid = (
           SELECT rowid
           FROM   main."Queue"
           WHERE  status = 0
           ORDER  BY in_time, message_id
           LIMIT  1)
RETURNING message, message_id, in_time, lock_time;

-- sql/complete.sql
-- complete: running to done
-- fence: lock_time as the claim left it
-- locks: the database for writing, while the statement runs
-- index: that of the key, which schema/indexes.sql makes; without it, none; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID LockTime
UPDATE /* litequeue.Complete */ main."Queue"
SET    status = 2,
       done_time = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS lock_time_held
           FROM   json_each(?1)
       ) AS job
WHERE  message_id = message_id_held
AND    +(lock_time = lock_time_held
      AND    status = 1)
RETURNING message_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: lock_time as the claim left it
-- locks: the database for writing, while the statement runs
-- index: that of the key, which schema/indexes.sql makes; without it, none; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID LockTime
UPDATE /* litequeue.Fail */ main."Queue"
SET    status = 3
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS lock_time_held
           FROM   json_each(?1)
       ) AS job
WHERE  message_id = message_id_held
AND    +(lock_time = lock_time_held
      AND    status = 1)
RETURNING message_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: lock_time as the claim left it
-- locks: the database for writing, while the statement runs
-- index: that of the key, which schema/indexes.sql makes; without it, none; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID LockTime
UPDATE /* litequeue.Requeue */ main."Queue"
SET    status = 0,
       lock_time = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS lock_time_held
           FROM   json_each(?1)
       ) AS job
WHERE  message_id = message_id_held
AND    +(lock_time = lock_time_held
      AND    status = 1)
RETURNING message_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: lock_time as the claim left it
-- locks: the database for writing, while the statement runs
-- index: that of the key, which schema/indexes.sql makes; without it, none; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID LockTime
UPDATE /* litequeue.Extend */ main."Queue"
SET    lock_time = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS lock_time_held
           FROM   json_each(?1)
       ) AS job
WHERE  message_id = message_id_held
AND    +(lock_time = lock_time_held
      AND    status = 1)
RETURNING message_id, lock_time;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (lock_time) WHERE status = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* litequeue.Recover */ main."Queue"
SET    status = 0,
       lock_time = NULL
WHERE  rowid IN (
           SELECT rowid
           FROM   main."Queue"
           WHERE  status = 1
           AND    lock_time <= unixepoch() - 300
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* litequeue.Redrive */ main."Queue"
SET    status = 0,
       lock_time = NULL
WHERE  rowid IN (
           SELECT rowid
           FROM   main."Queue"
           WHERE  status = 3
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (done_time) WHERE status = 2 would find them
-- arguments: 1: older, 2: limit
DELETE /* litequeue.Purge */ FROM main."Queue"
WHERE  rowid IN (
           SELECT rowid
           FROM   main."Queue"
           WHERE  status = 2
           AND    done_time <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (lock_time) WHERE status = 3 would find them
-- arguments: 1: older, 2: limit
DELETE /* litequeue.Purge */ FROM main."Queue"
WHERE  rowid IN (
           SELECT rowid
           FROM   main."Queue"
           WHERE  status = 3
           AND    lock_time <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Message, 2: new MessageID
INSERT /* litequeue.Enqueue */ INTO main."Queue"
       (message, message_id, status, in_time)
VALUES (?1, ?2, 0, unixepoch())
RETURNING message_id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Message MessageID
INSERT /* litequeue.EnqueueMany */ INTO main."Queue"
       (message, message_id, status, in_time)
SELECT message_new, message_id_new, 0, unixepoch()
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS message_new,
                  json_extract(value, '$[1]') AS message_id_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING message_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* litequeue.Stats */
       count(*) FILTER (WHERE status = 0) AS ready,
       count(*) FILTER (WHERE status = 1) AS running,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed,
       count(*) FILTER (WHERE status = 1 AND lock_time <= unixepoch() - 300) AS expired,
       (unixepoch() - min(in_time) FILTER (WHERE status = 0)) AS oldest_ready,
       (unixepoch() - min(lock_time) FILTER (WHERE status = 1)) AS oldest_running,
       avg((lock_time - in_time)) FILTER (WHERE status = 2) AS mean_wait,
       avg((done_time - lock_time)) FILTER (WHERE status = 2) AS mean_run
FROM   main."Queue";

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (in_time, message_id) WHERE status = 0
SELECT /* litequeue.Backlog */
       count(*) AS ready,
       (unixepoch() - min(in_time)) AS oldest_ready
FROM   main."Queue"
WHERE  status = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (in_time, message_id) WHERE status = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* litequeue.Peek */
       message, message_id, in_time
FROM   main."Queue"
WHERE  status = 0
ORDER  BY in_time, message_id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* litequeue.Verify */
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
WITH /* litequeue.Verify */ want (name, type) AS (
    VALUES ('message', 'TEXT'),
           ('message_id', 'TEXT'),
           ('status', 'INTEGER'),
           ('in_time', 'INTEGER'),
           ('lock_time', 'INTEGER'),
           ('done_time', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('Queue', 'main') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* litequeue.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('Queue_litequeue_ready', 'in_time, message_id', 'in_time, message_id', 'status=0'),
           ('Queue_litequeue_expired', 'lock_time', 'lock_time', 'status=1'),
           ('Queue_litequeue_key', 'message_id', 'message_id', '')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name, 'main') AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM main.sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('Queue', 'main') AS l
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
CREATE INDEX main."Queue_litequeue_ready" ON "Queue" (in_time, message_id)
WHERE  status = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX main."Queue_litequeue_expired" ON "Queue" (lock_time)
WHERE  status = 1;

-- serves Complete and the like: finds the rows of jobs by their key
CREATE INDEX main."Queue_litequeue_key" ON "Queue" (message_id);
