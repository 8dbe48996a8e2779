-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.41 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Later-----------> ready
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready and mails_expired.
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
-- note: on retry, column "run_at" gets [{now} + 60 * {arg:minutes}] as qgen:on says, not now + {delay} as qgen:due would
-- note: on renew, column "till" gets now + 15m as qgen:on says, not now + 5m as qgen:lease would
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: given cost int, 2: limit
UPDATE /* mailsq.Claim */ mails
SET    state = 1,
       till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = (tries + ?1)
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 0
           AND    (run_at <= unixepoch() OR run_at IS NULL)
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, run_at, till, fails;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: given cost int
UPDATE /* mailsq.Claim */ mails
SET    state = 1,
       till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = (tries + ?1)
WHERE  id = (
           SELECT id
           FROM   mails
           WHERE  state = 0
           AND    (run_at <= unixepoch() OR run_at IS NULL)
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_at, till, fails;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till Cost More
UPDATE /* mailsq.Complete */ mails
SET    state = 2,
       till = NULL,
       tries = (tries + cost_held),
       note = (note || more_held)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held,
                  json_extract(value, '$[2]') AS cost_held,
                  json_extract(value, '$[3]') AS more_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 1)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: given minutes int, 2: batch_all ID Till
UPDATE /* mailsq.Fail */ mails
SET    state = 0,
       run_at = (unixepoch() + 60 * ?1),
       till = NULL,
       tries = (tries + ?1),
       fails = fails + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 1)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Fail */ mails
SET    state = 3,
       till = NULL,
       fails = fails + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* mailsq.Requeue */ mails
SET    state = 0,
       run_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE run_at END,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 1)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* mailsq.Extend */ mails
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 900 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 1)
RETURNING id, till;

-- sql/outcome_later.sql
-- outcome_later: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: given delay time.Duration, 2: given cost int, 3: batch_all ID Till
UPDATE /* mailsq.Later */ mails
SET    state = 0,
       run_at = CAST(unixepoch() + ?1 AS INTEGER),
       till = NULL,
       tries = (tries + ?2)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?3)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 1)
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 0,
       till = NULL,
       fails = fails + 1
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 1
           AND    fails < 2
           AND    till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 3,
       till = NULL,
       fails = fails + 1
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 1
           AND    fails >= 2
           AND    till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: given first int64, 2: limit
UPDATE /* mailsq.Redrive */ mails
SET    state = 0,
       till = NULL,
       fails = 0,
       step = (step + ?1)
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 3
           LIMIT  ?2);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 2 would find them
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 2
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 3 would find them
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 3
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Delay, 2: new First
INSERT /* mailsq.Enqueue */ INTO mails
       (run_at, step)
VALUES (CAST(unixepoch() + ?1 AS INTEGER), (?2 * ?2))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Delay First
INSERT /* mailsq.EnqueueMany */ INTO mails
       (run_at, step)
SELECT CAST(unixepoch() + delay_new AS INTEGER), (first_new * first_new)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS delay_new,
                  json_extract(value, '$[1]') AS first_new
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
       count(*) FILTER (WHERE state = 0 AND (run_at <= unixepoch() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state = 3) AS failed,
       count(*) FILTER (WHERE state = 0 AND run_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE state = 1 AND till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       (unixepoch() - min(run_at) FILTER (WHERE state = 0 AND (run_at <= unixepoch() OR run_at IS NULL))) AS oldest_ready
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_at) WHERE state = 0
SELECT /* mailsq.Backlog */
       count(*) FILTER (WHERE (run_at <= unixepoch() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE run_at > unixepoch()) AS delayed,
       (unixepoch() - min(run_at) FILTER (WHERE (run_at <= unixepoch() OR run_at IS NULL))) AS oldest_ready
FROM   mails
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_at) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, run_at, fails
FROM   mails
WHERE  state = 0
AND    (run_at <= unixepoch() OR run_at IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.41'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 41);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'INTEGER'),
           ('run_at', 'INTEGER'),
           ('till', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('note', 'TEXT'),
           ('fails', 'INTEGER'),
           ('step', 'INTEGER')
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
    VALUES ('mails_ready', 'id', 'id', 'state=0'),
           ('mails_expired', 'till', 'till', 'state=1')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX mails_ready ON mails (id, run_at)
WHERE  state = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX mails_expired ON mails (till)
WHERE  state = 1;
