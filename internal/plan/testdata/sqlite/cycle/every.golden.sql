-- Package everyq uses the table every as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- A job never ends: Complete makes it ready again, due after the time that the row has in every. Who wants one to end deletes its row.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates every_ready and every_expired.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'N' AND tries > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* everyq.Claim */ every
SET    state = 'A',
       till = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds')
WHERE  id IN (
           SELECT id
           FROM   every
           WHERE  state = 'N'
           AND    tries > 0
           AND    (run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR run_at IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, run_at, till, tries, every;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'N' AND tries > 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* everyq.Claim */ every
SET    state = 'A',
       till = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds')
WHERE  id = (
           SELECT id
           FROM   every
           WHERE  state = 'N'
           AND    tries > 0
           AND    (run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR run_at IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_at, till, tries, every;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* everyq.Complete */ every
SET    state = 'N',
       run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(every * 60))),
       till = NULL,
       tries = 3,
       ran_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* everyq.Fail */ every
SET    state = 'N',
       run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(?1))),
       till = NULL,
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* everyq.Fail */ every
SET    state = 'N',
       till = NULL,
       tries = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* everyq.Requeue */ every
SET    state = 'N',
       run_at = CASE WHEN ?1 > 0.0 THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(?1))) ELSE run_at END,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* everyq.Extend */ every
SET    till = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds')
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'A')
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* everyq.Recover */ every
SET    state = 'N',
       till = NULL,
       tries = tries - 1
WHERE  id IN (
           SELECT id
           FROM   every
           WHERE  state = 'A'
           AND    tries > 1
           AND    till <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* everyq.Recover */ every
SET    state = 'N',
       till = NULL,
       tries = 0
WHERE  id IN (
           SELECT id
           FROM   every
           WHERE  state = 'A'
           AND    tries <= 1
           AND    till <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* everyq.Redrive */ every
SET    till = NULL,
       tries = 3
WHERE  id IN (
           SELECT id
           FROM   every
           WHERE  state = 'N'
           AND    tries <= 0
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt, 2: new Every
INSERT /* everyq.Enqueue */ INTO every
       (run_at, every)
VALUES (?1, coalesce(?2, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt Every
INSERT /* everyq.EnqueueMany */ INTO every
       (run_at, every)
SELECT run_at_new, coalesce(every_new, 60)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS run_at_new,
                  json_extract(value, '$[1]') AS every_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* everyq.Stats */
       count(*) FILTER (WHERE state = 'N' AND tries > 0 AND (run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'N' AND tries <= 0) AS failed,
       count(*) FILTER (WHERE state = 'N' AND tries > 0 AND run_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND till <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS expired,
       ((julianday(strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) - julianday(min(run_at) FILTER (WHERE state = 'N' AND tries > 0 AND (run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR run_at IS NULL)))) * 86400.0) AS oldest_ready
FROM   every;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_at) WHERE state = 'N' AND tries > 0
SELECT /* everyq.Backlog */
       count(*) FILTER (WHERE (run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE run_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS delayed,
       ((julianday(strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) - julianday(min(run_at) FILTER (WHERE (run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR run_at IS NULL)))) * 86400.0) AS oldest_ready
FROM   every
WHERE  state = 'N'
AND    tries > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_at) WHERE state = 'N' AND tries > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* everyq.Peek */
       id, run_at, tries, every
FROM   every
WHERE  state = 'N'
AND    tries > 0
AND    (run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR run_at IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* everyq.Verify */
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
WITH /* everyq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('run_at', 'TEXT'),
           ('till', 'TEXT'),
           ('tries', 'INTEGER'),
           ('every', 'INTEGER'),
           ('ran_at', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('every') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* everyq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('every_ready', 'id', 'id', 'state=''n''andtries>0'),
           ('every_expired', 'till', 'till', 'state=''a''')
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
    FROM   pragma_index_list('every') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX every_ready ON every (id, run_at)
WHERE  state = 'N'
AND    tries > 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX every_expired ON every (till)
WHERE  state = 'A';
