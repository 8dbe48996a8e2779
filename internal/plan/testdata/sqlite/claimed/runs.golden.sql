-- Package runsq uses the table runs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes starts (Start), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
--   token        not needed: returning comes first
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"
-- note: warning: a running row whose beat is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'assigned',
       token = ?1,
       beat = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, token;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token
UPDATE /* runsq.Claim */ runs
SET    state = 'assigned',
       token = ?1,
       beat = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  1)
RETURNING id, token;

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
SELECT /* runsq.Start */
       id
FROM   runs
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'assigned');

-- sql/start_insert_starts.sql
-- start: inserts rows into starts for the rows that start_lock.sql locked, before start.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Token
INSERT /* runsq.Start */ INTO starts
       (run_id, at)
SELECT held.id, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   runs AS held
WHERE  (held.id, held.token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1));

-- sql/start.sql
-- start: claimed to running
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Start */ runs
SET    state = 'running',
       beat = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state = 'assigned')
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Complete */ runs
SET    state = 'over'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state IN ('assigned', 'running', 'aborting'))
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Fail */ runs
SET    state = 'failed'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state IN ('assigned', 'running', 'aborting'))
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Requeue */ runs
SET    state = 'new',
       token = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state IN ('assigned', 'running', 'aborting'))
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* runsq.Extend */ runs
SET    beat = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    state IN ('assigned', 'running', 'aborting'))
RETURNING id;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (beat) WHERE state IN ('assigned', 'running', 'aborting'); until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'new',
       token = NULL
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state IN ('assigned', 'running', 'aborting')
           AND    beat <= CAST((julianday('now') - 2440587.5) * 86400000 - 300 * 1000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'new',
       token = NULL
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- arguments: 1: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'over'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* runsq.Reserve */ FROM runs
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* runsq.Enqueue */ INTO runs
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'assigned') AS claimed,
       count(*) FILTER (WHERE state IN ('running', 'aborting')) AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('assigned', 'running', 'aborting') AND beat <= CAST((julianday('now') - 2440587.5) * 86400000 - 300 * 1000 AS INTEGER)) AS expired
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* runsq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id
FROM   runs
WHERE  state = 'new'
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
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('token', 'TEXT'),
           ('beat', 'INTEGER')
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

-- sql/verify_columns_also.sql
-- verify: columns of starts
-- locks: none
WITH /* runsq.Verify */ want (name, type) AS (
    VALUES ('run_id', 'INTEGER'),
           ('at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('starts') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* runsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('runs_ready', 'id', 'id', 'state=''new'''),
           ('runs_expired', 'beat', 'beat', 'statein''assigned'',''running'',''aborting''')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX runs_ready ON runs (id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX runs_expired ON runs (beat)
WHERE  state IN ('assigned', 'running', 'aborting');
