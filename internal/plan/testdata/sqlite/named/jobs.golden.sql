-- Package jobsq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    (run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR run_at IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, made, run_at, till, tries, reason;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    (run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR run_at IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, made, run_at, till, tries, reason;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Complete */ jobs
SET    state = 'done',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch_all ID Tries
UPDATE /* jobsq.Fail */ jobs
SET    state = 'new',
       run_at = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       till = NULL,
       reason = ?2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?3)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Tries
UPDATE /* jobsq.Fail */ jobs
SET    state = 'failed',
       till = NULL,
       reason = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Tries
UPDATE /* jobsq.Requeue */ jobs
SET    state = 'new',
       run_at = CASE WHEN ?1 > 0.0 THEN CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER) ELSE run_at END,
       till = NULL,
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Extend */ jobs
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 'new',
       till = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'busy'
           AND    tries < 5
           AND    till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 'failed',
       till = NULL,
       reason = 'the claim ran out'
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'busy'
           AND    tries >= 5
           AND    till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    state = 'new',
       till = NULL,
       tries = 0
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'done' would find them
-- arguments: 1: older, 2: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'done'
           AND    made <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'failed' would find them
-- arguments: 1: older, 2: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           AND    made <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt
INSERT /* jobsq.Enqueue */ INTO jobs
       (made, run_at)
VALUES (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), ?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (made, run_at)
SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), run_at_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS run_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE state = 'new' AND (run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'new' AND run_at > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(made) FILTER (WHERE state = 'new' AND (run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR run_at IS NULL))) / 1000.0) AS oldest_ready
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_at) WHERE state = 'new'
SELECT /* jobsq.Backlog */
       count(*) FILTER (WHERE (run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE run_at > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(made) FILTER (WHERE (run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR run_at IS NULL))) / 1000.0) AS oldest_ready
FROM   jobs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_at) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, made, run_at, tries, reason
FROM   jobs
WHERE  state = 'new'
AND    (run_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR run_at IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
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
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('state', 'text'),
           ('made', 'integer'),
           ('run_at', 'integer'),
           ('till', 'integer'),
           ('tries', 'int'),
           ('reason', 'text')
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
WITH /* jobsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_ready', 'id', 'id', 'state=''new'''),
           ('jobs_expired', 'till', 'till', 'state=''busy''')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX jobs_ready ON jobs (id, run_at)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX jobs_expired ON jobs (till)
WHERE  state = 'busy';
