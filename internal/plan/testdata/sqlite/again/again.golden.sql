-- Package againq uses the table again as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Again-----------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates again_ready and again_expired.
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
-- note: tries have no limit, so Fail always puts the job back (max= or a column of limits at qgen:attempts, or an outcome to failed)
-- note: rows are taken as they came, by column "id"
-- note: the count in column "tries" is set back by the outcome again, so it is no fence; qgen:token or a qgen:version that each claim raises is one
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* againq.Claim */ again
SET    state = 1,
       tries = tries + 1,
       at_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   again
           WHERE  state = 0
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, tries, at_ms, periods;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* againq.Claim */ again
SET    state = 1,
       tries = tries + 1,
       at_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   again
           WHERE  state = 0
           ORDER  BY id
           LIMIT  1)
RETURNING id, tries, at_ms, periods;

-- sql/complete.sql
-- complete: running to done
-- fence: at_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID AtMs
UPDATE /* againq.Complete */ again
SET    state = 2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at_ms = at_ms_held
      AND    state = 1)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: at_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID AtMs
UPDATE /* againq.Fail */ again
SET    state = 0,
       at_ms = -1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at_ms = at_ms_held
      AND    state = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID AtMs
UPDATE /* againq.Requeue */ again
SET    state = 0,
       tries = tries - 1,
       at_ms = -1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at_ms = at_ms_held
      AND    state = 1)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID AtMs
UPDATE /* againq.Extend */ again
SET    at_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at_ms = at_ms_held
      AND    state = 1)
RETURNING id, at_ms;

-- sql/outcome_again.sql
-- outcome_again: running to ready
-- fence: at_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID AtMs
UPDATE /* againq.Again */ again
SET    state = 0,
       tries = 0,
       at_ms = -1,
       periods = periods + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at_ms = at_ms_held
      AND    state = 1)
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (at_ms) WHERE state = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* againq.Recover */ again
SET    state = 0,
       at_ms = -1
WHERE  id IN (
           SELECT id
           FROM   again
           WHERE  state = 1
           AND    at_ms <= CAST((julianday('now') - 2440587.5) * 86400000 - 600 * 1000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* againq.Redrive */ again
SET    state = 0,
       tries = 0,
       at_ms = -1
WHERE  id IN (
           SELECT id
           FROM   again
           WHERE  state = 3
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (at_ms) WHERE state = 2 would find them
-- arguments: 1: older, 2: limit
DELETE /* againq.Purge */ FROM again
WHERE  id IN (
           SELECT id
           FROM   again
           WHERE  state = 2
           AND    at_ms <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (at_ms) WHERE state = 3 would find them
-- arguments: 1: older, 2: limit
DELETE /* againq.Purge */ FROM again
WHERE  id IN (
           SELECT id
           FROM   again
           WHERE  state = 3
           AND    at_ms <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Periods
INSERT /* againq.Enqueue */ INTO again
       (periods)
VALUES (coalesce(?1, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Periods
INSERT /* againq.EnqueueMany */ INTO again
       (periods)
SELECT coalesce(periods_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS periods_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* againq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state = 3) AS failed,
       count(*) FILTER (WHERE state = 1 AND at_ms <= CAST((julianday('now') - 2440587.5) * 86400000 - 600 * 1000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(at_ms) FILTER (WHERE state = 1)) / 1000.0) AS oldest_running
FROM   again;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 0
SELECT /* againq.Backlog */
       count(*) AS ready
FROM   again
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* againq.Peek */
       id, tries, at_ms, periods
FROM   again
WHERE  state = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* againq.Verify */
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
WITH /* againq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('at_ms', 'INTEGER'),
           ('periods', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('again') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* againq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('again_ready', 'id', 'id', 'state=0'),
           ('again_expired', 'at_ms', 'at_ms', 'state=1')
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
    FROM   pragma_index_list('again') AS l
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
CREATE INDEX again_ready ON again (id)
WHERE  state = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX again_expired ON again (at_ms)
WHERE  state = 1;
