-- Package reckonedq uses the table reckoned as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> ready, due again
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
--
-- Jobs are claimed by the strategy partition: no running state and a shard column: every worker reads its own share.
--
-- Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker.
--
-- A job never ends: Complete makes it ready again, due after a time that the database works out of the row. Who wants one to end deletes its row.
--
-- It takes no locks. A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates reckoned_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  a row of the queue is written when its job ends and not before, and with cycle no job ends
--   hold         the table has no running state but a shard column, which keeps workers apart
-- * partition    no running state and a shard column: every worker reads its own share
--   returning    the table has no running state that a claim could write
--   block        SQLite has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: the ready rows of one shard; nothing is written
-- locks: none; the shard keeps workers apart
-- index: (run_at, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* reckonedq.Claim */
       id, run_at, wait_s
FROM   reckoned
WHERE  run_at <= unixepoch()
AND    ((coalesce(id, 0) % ?1) + ?1) % ?1 = ?2
ORDER  BY run_at, id
LIMIT  ?3;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* reckonedq.Complete */ reckoned
SET    run_at = CAST(unixepoch() + (reckoned.wait_s * 2) AS INTEGER)
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(run_at <= unixepoch())
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* reckonedq.Fail */ reckoned
SET    run_at = CAST(unixepoch() + ?1 AS INTEGER)
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(run_at <= unixepoch())
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* reckonedq.Requeue */ reckoned
SET    run_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE run_at END
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(run_at <= unixepoch())
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt, 2: new WaitS
INSERT /* reckonedq.Enqueue */ INTO reckoned
       (run_at, wait_s)
VALUES (coalesce(?1, unixepoch()), coalesce(?2, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt WaitS
INSERT /* reckonedq.EnqueueMany */ INTO reckoned
       (run_at, wait_s)
SELECT coalesce(run_at_new, unixepoch()), coalesce(wait_s_new, 60)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS run_at_new,
                  json_extract(value, '$[1]') AS wait_s_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* reckonedq.Stats */
       count(*) FILTER (WHERE run_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE run_at > unixepoch()) AS delayed,
       (unixepoch() - min(run_at) FILTER (WHERE run_at <= unixepoch())) AS oldest_ready
FROM   reckoned;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (run_at, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* reckonedq.Peek */
       id, run_at, wait_s
FROM   reckoned
WHERE  run_at <= unixepoch()
AND    ((coalesce(id, 0) % ?1) + ?1) % ?1 = ?2
ORDER  BY run_at, id
LIMIT  ?3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* reckonedq.Verify */
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
WITH /* reckonedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('run_at', 'INTEGER'),
           ('wait_s', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('reckoned') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* reckonedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('reckoned_ready', 'run_at, id', 'run_at', '')
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
    FROM   pragma_index_list('reckoned') AS l
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
CREATE INDEX reckoned_ready ON reckoned (run_at, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
