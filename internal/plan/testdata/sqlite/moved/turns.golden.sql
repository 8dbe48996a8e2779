-- Package turnsq uses the table turns as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates turns_ready and turns_expired.
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
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queued, id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* turnsq.Claim */ turns
SET    state = 'A',
       held_ms = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  rowid IN (
           SELECT rowid
           FROM   turns
           WHERE  state = 'N'
           ORDER  BY queued, id
           LIMIT  ?1)
RETURNING id, queued, held_ms;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (queued, id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* turnsq.Claim */ turns
SET    state = 'A',
       held_ms = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  rowid = (
           SELECT rowid
           FROM   turns
           WHERE  state = 'N'
           ORDER  BY queued, id
           LIMIT  1)
RETURNING id, queued, held_ms;

-- sql/complete.sql
-- complete: running to done
-- fence: held_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldMs
UPDATE /* turnsq.Complete */ turns
SET    state = 'D',
       held_ms = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_ms = held_ms_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: held_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldMs
UPDATE /* turnsq.Fail */ turns
SET    state = 'N',
       queued = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       held_ms = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_ms = held_ms_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldMs
UPDATE /* turnsq.Requeue */ turns
SET    state = 'N',
       queued = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       held_ms = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_ms = held_ms_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_ms as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldMs
UPDATE /* turnsq.Extend */ turns
SET    held_ms = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_ms_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_ms = held_ms_held
      AND    state = 'A')
RETURNING id, held_ms;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (held_ms) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* turnsq.Recover */ turns
SET    state = 'N',
       held_ms = NULL
WHERE  rowid IN (
           SELECT rowid
           FROM   turns
           WHERE  state = 'A'
           AND    held_ms <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* turnsq.Purge */ FROM turns
WHERE  rowid IN (
           SELECT rowid
           FROM   turns
           WHERE  state = 'D'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new ID
INSERT /* turnsq.Enqueue */ INTO turns
       (id, queued)
VALUES (?1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all ID
INSERT /* turnsq.EnqueueMany */ INTO turns
       (id, queued)
SELECT id_new, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS id_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* turnsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'A' AND held_ms <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   turns;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (queued, id) WHERE state = 'N'
SELECT /* turnsq.Backlog */
       count(*) AS ready
FROM   turns
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (queued, id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* turnsq.Peek */
       id, queued
FROM   turns
WHERE  state = 'N'
ORDER  BY queued, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* turnsq.Verify */
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
WITH /* turnsq.Verify */ want (name, type) AS (
    VALUES ('id', 'TEXT'),
           ('state', 'TEXT'),
           ('queued', 'INTEGER'),
           ('held_ms', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('turns') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* turnsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('turns_ready', 'queued, id', 'queued, id', 'state=''n'''),
           ('turns_expired', 'held_ms', 'held_ms', 'state=''a''')
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
    FROM   pragma_index_list('turns') AS l
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
CREATE INDEX turns_ready ON turns (queued, id)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX turns_expired ON turns (held_ms)
WHERE  state = 'A';
