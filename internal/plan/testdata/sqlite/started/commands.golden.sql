-- Package commandsq uses the table commands as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> failed, when the program starts
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until the program starts again; then Recover lets them fail.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates commands_ready.
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
-- note: on giveup, column "state" gets 6 as qgen:on says, not 3 as qgen:status would
-- note: on giveup, column "error" stays as it is, as qgen:on says, and does not get 'the claim ran out' as qgen:error would
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* commandsq.Claim */ commands
SET    state = 1,
       begun = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   commands
           WHERE  state = 0
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, begun, error;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* commandsq.Claim */ commands
SET    state = 1,
       begun = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   commands
           WHERE  state = 0
           ORDER  BY id
           LIMIT  1)
RETURNING id, begun, error;

-- sql/complete.sql
-- complete: running to done
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* commandsq.Complete */ commands
SET    state = 2,
       ended = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    state = 1)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Begun
UPDATE /* commandsq.Fail */ commands
SET    state = 3,
       ended = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    state = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* commandsq.Requeue */ commands
SET    state = 0,
       begun = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    state = 1)
RETURNING id;

-- sql/recover_failed.sql
-- recover_failed: running to failed, when the program starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* commandsq.Recover */ commands
SET    state = 6,
       ended = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   commands
           WHERE  state = 1
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* commandsq.Redrive */ commands
SET    state = 0,
       begun = NULL,
       ended = NULL
WHERE  id IN (
           SELECT id
           FROM   commands
           WHERE  state IN (3, 6)
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 2 would find them
-- arguments: 1: older, 2: limit
DELETE /* commandsq.Purge */ FROM commands
WHERE  id IN (
           SELECT id
           FROM   commands
           WHERE  state = 2
           AND    ended <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state IN (3, 6) would find them
-- arguments: 1: older, 2: limit
DELETE /* commandsq.Purge */ FROM commands
WHERE  id IN (
           SELECT id
           FROM   commands
           WHERE  state IN (3, 6)
           AND    ended <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* commandsq.Enqueue */ INTO commands
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* commandsq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state IN (3, 6)) AS failed,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(begun) FILTER (WHERE state = 1)) / 1000.0) AS oldest_running,
       avg(((ended - begun) / 1000.0)) FILTER (WHERE state = 2) AS mean_run
FROM   commands;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 0
SELECT /* commandsq.Backlog */
       count(*) AS ready
FROM   commands
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* commandsq.Peek */
       id, error
FROM   commands
WHERE  state = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* commandsq.Verify */
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
WITH /* commandsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'INTEGER'),
           ('begun', 'INTEGER'),
           ('ended', 'INTEGER'),
           ('error', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('commands') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* commandsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('commands_ready', 'id', 'id', 'state=0')
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
    FROM   pragma_index_list('commands') AS l
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
CREATE INDEX commands_ready ON commands (id)
WHERE  state = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
