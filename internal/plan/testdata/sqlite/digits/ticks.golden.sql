-- Package ticksq uses the table ticks as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates ticks_ready and ticks_expired.
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
-- note: times of column "ended" have 19 digits, which last until 11 April 2262
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, due_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* ticksq.Claim */ ticks
SET    state = 'A',
       since = (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)
WHERE  id IN (
           SELECT id
           FROM   ticks
           WHERE  state = 'N'
           AND    due_at <= (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, due_at, since, tries, wait_s;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, due_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* ticksq.Claim */ ticks
SET    state = 'A',
       since = (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)
WHERE  id = (
           SELECT id
           FROM   ticks
           WHERE  state = 'N'
           AND    due_at <= (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)
           ORDER  BY id
           LIMIT  1)
RETURNING id, due_at, since, tries, wait_s;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Complete */ ticks
SET    state = 'D',
       ended = printf('%019d', (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000))
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Fail */ ticks
SET    state = 'N',
       due_at = (min(CAST((julianday('now') - 2440587.5) * 86400000 + (60) * 1000 AS INTEGER), 9223372036854) * 1000000),
       since = NULL,
       tries = tries + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Fail */ ticks
SET    state = 'F',
       tries = tries + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Since
UPDATE /* ticksq.Requeue */ ticks
SET    state = 'N',
       due_at = CASE WHEN ?1 > 0.0 THEN (min(CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER), 9223372036854) * 1000000) ELSE due_at END,
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* ticksq.Extend */ ticks
SET    since = (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    state = 'A')
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* ticksq.Recover */ ticks
SET    state = 'N',
       since = NULL,
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   ticks
           WHERE  state = 'A'
           AND    tries < 2
           AND    since <= (min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 9223372036854) * 1000000)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* ticksq.Recover */ ticks
SET    state = 'F',
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   ticks
           WHERE  state = 'A'
           AND    tries >= 2
           AND    since <= (min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 9223372036854) * 1000000)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* ticksq.Redrive */ ticks
SET    state = 'N',
       since = NULL,
       tries = 0
WHERE  id IN (
           SELECT id
           FROM   ticks
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* ticksq.Purge */ FROM ticks
WHERE  id IN (
           SELECT id
           FROM   ticks
           WHERE  state = 'D'
           AND    ended <= printf('%019d', max(0, min((min(CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER), 9223372036854) * 1000000), 9223372036854775807)))
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) WHERE state = 'F' would find them
-- arguments: 1: older, 2: limit
DELETE /* ticksq.Purge */ FROM ticks
WHERE  id IN (
           SELECT id
           FROM   ticks
           WHERE  state = 'F'
           AND    since <= (min(CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER), 9223372036854) * 1000000)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new DueAt, 2: new WaitS
INSERT /* ticksq.Enqueue */ INTO ticks
       (due_at, wait_s)
VALUES (coalesce(?1, (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)),
        coalesce(?2, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all DueAt WaitS
INSERT /* ticksq.EnqueueMany */ INTO ticks
       (due_at, wait_s)
SELECT coalesce(due_at_new, (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)),
       coalesce(wait_s_new, 60)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS due_at_new,
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
SELECT /* ticksq.Stats */
       count(*) FILTER (WHERE state = 'N' AND due_at <= (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'N' AND due_at > (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND since <= (min(CAST((julianday('now') - 2440587.5) * 86400000 - wait_s * 1000 AS INTEGER), 9223372036854) * 1000000)) AS expired,
       (((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000) - min(due_at) FILTER (WHERE state = 'N' AND due_at <= (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000))) / 1000000000.0) AS oldest_ready,
       (((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000) - min(since) FILTER (WHERE state = 'A')) / 1000000000.0) AS oldest_running,
       avg(((CAST(ended AS INTEGER) - since) / 1000000000.0)) FILTER (WHERE state = 'D') AS mean_run
FROM   ticks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, due_at) WHERE state = 'N'
SELECT /* ticksq.Backlog */
       count(*) FILTER (WHERE due_at <= (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)) AS ready,
       count(*) FILTER (WHERE due_at > (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)) AS delayed,
       (((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000) - min(due_at) FILTER (WHERE due_at <= (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000))) / 1000000000.0) AS oldest_ready
FROM   ticks
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, due_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* ticksq.Peek */
       id, due_at, tries, wait_s
FROM   ticks
WHERE  state = 'N'
AND    due_at <= (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ticksq.Verify */
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
WITH /* ticksq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('state', 'char(1)'),
           ('due_at', 'bigint'),
           ('since', 'bigint'),
           ('tries', 'int'),
           ('ended', 'varchar(19)'),
           ('wait_s', 'int')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('ticks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* ticksq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('ticks_ready', 'id', 'id', 'state=''n'''),
           ('ticks_expired', 'id', 'id', 'state=''a''')
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
    FROM   pragma_index_list('ticks') AS l
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
CREATE INDEX ticks_ready ON ticks (id, due_at)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: rows that somebody has
CREATE INDEX ticks_expired ON ticks (id)
WHERE  state = 'A';
