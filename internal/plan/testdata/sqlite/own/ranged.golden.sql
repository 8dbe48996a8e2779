-- Package rangedq uses the table ranged as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its worker starts again
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until a worker of its name starts; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates ranged_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker State, 2: limit
UPDATE /* rangedq.Claim */ ranged
SET    state = ?1
WHERE  id IN (
           SELECT id
           FROM   ranged
           WHERE  state = 0
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, state;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker State
UPDATE /* rangedq.Claim */ ranged
SET    state = ?1
WHERE  id = (
           SELECT id
           FROM   ranged
           WHERE  state = 0
           ORDER  BY id
           LIMIT  1)
RETURNING id, state;

-- sql/complete.sql
-- complete: running to done
-- fence: state as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID State
UPDATE /* rangedq.Complete */ ranged
SET    state = 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS state_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(state = state_held
      AND    (state > 1000 and (state <= 2000) and state <> 1500))
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: state as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID State
UPDATE /* rangedq.Fail */ ranged
SET    state = 2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS state_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(state = state_held
      AND    (state > 1000 and (state <= 2000) and state <> 1500))
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: state as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID State
UPDATE /* rangedq.Requeue */ ranged
SET    state = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS state_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(state = state_held
      AND    (state > 1000 and (state <= 2000) and state <> 1500))
RETURNING id;

-- sql/recover.sql
-- recover: running by this worker to ready, when it starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: worker State, 2: limit
UPDATE /* rangedq.Recover */ ranged
SET    state = 0
WHERE  id IN (
           SELECT id
           FROM   ranged
           WHERE  (state > 1000 and (state <= 2000) and state <> 1500)
           AND    state = ?1
           LIMIT  ?2);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* rangedq.Redrive */ ranged
SET    state = 0
WHERE  id IN (
           SELECT id
           FROM   ranged
           WHERE  state = 2
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 1 would find them
-- arguments: 1: limit
DELETE /* rangedq.Purge */ FROM ranged
WHERE  id IN (
           SELECT id
           FROM   ranged
           WHERE  state = 1
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 2 would find them
-- arguments: 1: limit
DELETE /* rangedq.Purge */ FROM ranged
WHERE  id IN (
           SELECT id
           FROM   ranged
           WHERE  state = 2
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* rangedq.Enqueue */ INTO ranged
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* rangedq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE (state > 1000 and (state <= 2000) and state <> 1500)) AS running,
       count(*) FILTER (WHERE state = 1) AS done,
       count(*) FILTER (WHERE state = 2) AS failed
FROM   ranged;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 0
SELECT /* rangedq.Backlog */
       count(*) AS ready
FROM   ranged
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* rangedq.Peek */
       id, state
FROM   ranged
WHERE  state = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* rangedq.Verify */
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
WITH /* rangedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('ranged') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* rangedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('ranged_ready', 'id', 'id', 'state=0')
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
    FROM   pragma_index_list('ranged') AS l
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
CREATE INDEX ranged_ready ON ranged (id)
WHERE  state = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
