-- Package hiddenq uses the table hidden as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates hidden_ready and hidden_expired.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "next"
-- note: a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)
-- note: rows are taken as they came, by column "id"; order 1 at column "next" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE sent = 0 AND tries < 16; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* hiddenq.Claim */ hidden
SET    next = CAST((julianday('now') - 2440587.5) * 86400000 + 120 * 1000 AS INTEGER),
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   hidden
           WHERE  sent = 0
           AND    (next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR next IS NULL)
           AND    tries < 16
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, next, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE sent = 0 AND tries < 16; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* hiddenq.Claim */ hidden
SET    next = CAST((julianday('now') - 2440587.5) * 86400000 + 120 * 1000 AS INTEGER),
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   hidden
           WHERE  sent = 0
           AND    (next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR next IS NULL)
           AND    tries < 16
           ORDER  BY id
           LIMIT  1)
RETURNING id, next, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* hiddenq.Complete */ hidden
SET    sent = 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    sent = 0)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Tries
UPDATE /* hiddenq.Fail */ hidden
SET    next = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    sent = 0)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* hiddenq.Fail */ hidden
SET    sent = 2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    sent = 0)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Tries
UPDATE /* hiddenq.Requeue */ hidden
SET    next = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    sent = 0)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* hiddenq.Extend */ hidden
SET    next = CAST((julianday('now') - 2440587.5) * 86400000 + 120 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    sent = 0)
RETURNING id, next;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (next) WHERE sent = 0; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* hiddenq.Recover */ hidden
SET    sent = 2
WHERE  id IN (
           SELECT id
           FROM   hidden
           WHERE  sent = 0
           AND    tries >= 16
           AND    next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* hiddenq.Redrive */ hidden
SET    sent = 0,
       next = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       tries = 0
WHERE  id IN (
           SELECT id
           FROM   hidden
           WHERE  sent = 2
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE sent = 1 would find them
-- arguments: 1: limit
DELETE /* hiddenq.Purge */ FROM hidden
WHERE  id IN (
           SELECT id
           FROM   hidden
           WHERE  sent = 1
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE sent = 2 would find them
-- arguments: 1: limit
DELETE /* hiddenq.Purge */ FROM hidden
WHERE  id IN (
           SELECT id
           FROM   hidden
           WHERE  sent = 2
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Next
INSERT /* hiddenq.Enqueue */ INTO hidden
       (next)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Next
INSERT /* hiddenq.EnqueueMany */ INTO hidden
       (next)
SELECT next_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS next_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* hiddenq.Stats */
       count(*) FILTER (WHERE sent = 0 AND (next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR next IS NULL) AND tries < 16) AS ready,
       count(*) FILTER (WHERE sent = 0 AND next > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE sent = 1) AS done,
       count(*) FILTER (WHERE sent = 2) AS failed,
       count(*) FILTER (WHERE sent = 0 AND tries < 16 AND next > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE sent = 0 AND next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(next) FILTER (WHERE sent = 0 AND (next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR next IS NULL) AND tries < 16)) / 1000.0) AS oldest_ready
FROM   hidden;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE sent = 0 AND tries < 16
SELECT /* hiddenq.Backlog */
       count(*) FILTER (WHERE (next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR next IS NULL)) AS ready,
       count(*) FILTER (WHERE next > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(next) FILTER (WHERE (next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR next IS NULL))) / 1000.0) AS oldest_ready
FROM   hidden
WHERE  sent = 0
AND    tries < 16;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE sent = 0 AND tries < 16; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* hiddenq.Peek */
       id, tries
FROM   hidden
WHERE  sent = 0
AND    (next <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR next IS NULL)
AND    tries < 16
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* hiddenq.Verify */
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
WITH /* hiddenq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('sent', 'INTEGER'),
           ('next', 'INTEGER'),
           ('tries', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('hidden') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* hiddenq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('hidden_ready', 'id', 'id', 'sent=0andtries<16'),
           ('hidden_expired', 'next', 'next', 'sent=0')
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
    FROM   pragma_index_list('hidden') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX hidden_ready ON hidden (id)
WHERE  sent = 0
AND    tries < 16;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX hidden_expired ON hidden (next)
WHERE  sent = 0;
