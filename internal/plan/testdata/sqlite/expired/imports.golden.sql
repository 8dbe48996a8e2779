-- Package importsq uses the table imports as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given up, redriven and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until Recover, which goes by the workers that are alive, lets them fail.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates imports_ready and imports_expired.
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
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Node, 2: limit
UPDATE /* importsq.Claim */ imports
SET    state = 'A',
       node = ?1
WHERE  id IN (
           SELECT id
           FROM   imports
           WHERE  state = 'N'
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, node;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Node
UPDATE /* importsq.Claim */ imports
SET    state = 'A',
       node = ?1
WHERE  id = (
           SELECT id
           FROM   imports
           WHERE  state = 'N'
           ORDER  BY id
           LIMIT  1)
RETURNING id, node;

-- sql/complete.sql
-- complete: running to done
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* importsq.Complete */ imports
SET    state = 'D'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* importsq.Fail */ imports
SET    state = 'F'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* importsq.Requeue */ imports
SET    state = 'N',
       node = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state = 'A')
RETURNING id;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed
-- locks: the database for writing, while the statement runs
-- index: (node) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: param alive []string, 2: limit
UPDATE /* importsq.Recover */ imports
SET    state = 'F'
WHERE  id IN (
           SELECT id
           FROM   imports
           WHERE  state = 'A'
           AND    (node IS NOT NULL AND node NOT IN (SELECT value FROM json_each(?1)))
           LIMIT  ?2);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* importsq.Redrive */ imports
SET    state = 'N',
       node = NULL
WHERE  id IN (
           SELECT id
           FROM   imports
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* importsq.Purge */ FROM imports
WHERE  id IN (
           SELECT id
           FROM   imports
           WHERE  state = 'D'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'F' would find them
-- arguments: 1: limit
DELETE /* importsq.Purge */ FROM imports
WHERE  id IN (
           SELECT id
           FROM   imports
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* importsq.Enqueue */ INTO imports
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* importsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed
FROM   imports;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N'
SELECT /* importsq.Backlog */
       count(*) AS ready
FROM   imports
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* importsq.Peek */
       id
FROM   imports
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* importsq.Verify */
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
WITH /* importsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('node', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('imports') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* importsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('imports_ready', 'id', 'id', 'state=''n'''),
           ('imports_expired', 'node', 'node', 'state=''a''')
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
    FROM   pragma_index_list('imports') AS l
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
CREATE INDEX imports_ready ON imports (id)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX imports_expired ON imports (node)
WHERE  state = 'A';
