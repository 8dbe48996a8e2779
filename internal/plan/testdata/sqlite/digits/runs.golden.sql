-- Package runsq uses the table runs as a queue of jobs on SQLite 3.38 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready and runs_expired.
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
-- note: times of column "made" have 10 digits, which last until 20 November 2286
-- note: rows are taken as they came, by column "id"; order 1 at column "run_text" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_text) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'A',
       held_till = printf('%017d', CAST((julianday('now') - 2440587.5) * 86400000000 + 300 * 1000000 AS INTEGER))
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'N'
           AND    run_text <= printf('%011d', unixepoch())
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, run_text, held_till, made, tries, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_text) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* runsq.Claim */ runs
SET    state = 'A',
       held_till = printf('%017d', CAST((julianday('now') - 2440587.5) * 86400000000 + 300 * 1000000 AS INTEGER))
WHERE  id = (
           SELECT id
           FROM   runs
           WHERE  state = 'N'
           AND    run_text <= printf('%011d', unixepoch())
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_text, held_till, made, tries, body;

-- sql/complete.sql
-- complete: running to done
-- fence: held_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Complete */ runs
SET    state = 'D',
       held_till = NULL,
       ended = printf('%014d', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_till = held_till_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: held_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'N',
       run_text = printf('%011d', max(0, min(CAST(unixepoch() + (60 * (tries + 1)) AS INTEGER), 99999999999))),
       held_till = NULL,
       tries = tries + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_till = held_till_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: held_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'F',
       held_till = NULL,
       tries = tries + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_till = held_till_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID HeldTill
UPDATE /* runsq.Requeue */ runs
SET    state = 'N',
       run_text = CASE WHEN ?1 > 0.0 THEN printf('%011d', max(0, min(CAST(unixepoch() + ?1 AS INTEGER), 99999999999))) ELSE run_text END,
       held_till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(held_till = held_till_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldTill
UPDATE /* runsq.Extend */ runs
SET    held_till = printf('%017d', CAST((julianday('now') - 2440587.5) * 86400000000 + 300 * 1000000 AS INTEGER))
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_till = held_till_held
      AND    state = 'A')
RETURNING id, held_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (held_till) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'N',
       held_till = NULL,
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'A'
           AND    tries < 2
           AND    held_till <= printf('%017d', CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (held_till) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'F',
       held_till = NULL,
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'A'
           AND    tries >= 2
           AND    held_till <= printf('%017d', CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'N',
       held_till = NULL,
       tries = 0
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'D'
           AND    ended <= printf('%014d', max(0, min(CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER), 99999999999999)))
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'F' would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'F'
           AND    made <= printf('%010d', max(0, min(CAST(unixepoch() - ?1 AS INTEGER), 9999999999)))
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunText, 2: new Body
INSERT /* runsq.Enqueue */ INTO runs
       (run_text, made, body)
VALUES (coalesce(?1, printf('%011d', unixepoch())), printf('%010d', unixepoch()), ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunText Body
INSERT /* runsq.EnqueueMany */ INTO runs
       (run_text, made, body)
SELECT coalesce(run_text_new, printf('%011d', unixepoch())), printf('%010d', unixepoch()),
       body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS run_text_new,
                  json_extract(value, '$[1]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND run_text <= printf('%011d', unixepoch())) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'N' AND run_text > printf('%011d', unixepoch())) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND held_till <= printf('%017d', CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))) AS expired,
       (unixepoch() - CAST(min(made) FILTER (WHERE state = 'N' AND run_text <= printf('%011d', unixepoch())) AS INTEGER)) AS oldest_ready
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_text) WHERE state = 'N'
SELECT /* runsq.Backlog */
       count(*) FILTER (WHERE run_text <= printf('%011d', unixepoch())) AS ready,
       count(*) FILTER (WHERE run_text > printf('%011d', unixepoch())) AS delayed,
       (unixepoch() - CAST(min(made) FILTER (WHERE run_text <= printf('%011d', unixepoch())) AS INTEGER)) AS oldest_ready
FROM   runs
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_text) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, run_text, made, tries, body
FROM   runs
WHERE  state = 'N'
AND    run_text <= printf('%011d', unixepoch())
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
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
WITH /* runsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('state', 'char(1)'),
           ('run_text', 'varchar(20)'),
           ('held_till', 'varchar(20)'),
           ('made', 'char(10)'),
           ('ended', 'varchar(14)'),
           ('tries', 'int'),
           ('body', 'varchar(200)')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('runs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* runsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('runs_ready', 'id', 'id', 'state=''n'''),
           ('runs_expired', 'held_till', 'held_till', 'state=''a''')
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
    FROM   pragma_index_list('runs') AS l
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
CREATE INDEX runs_ready ON runs (id, run_text)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX runs_expired ON runs (held_till)
WHERE  state = 'A';
