-- Package tasksq uses the table tasks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a worker that dies leaves it as it leaves a running one.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs claimed or running until the queue crashed over the same table claims them: nothing here tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing here tells that a worker is gone, and there is no Recover: the rows of a dead worker stay as they are until the queue crashed over the same table claims them
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new' AND started_at IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* tasksq.Claim */ tasks
SET    state = 'taken'
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  state = 'new'
           AND    started_at IS NULL
           ORDER  BY id
           LIMIT  ?1)
RETURNING id;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new' AND started_at IS NULL; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* tasksq.Claim */ tasks
SET    state = 'taken'
WHERE  id = (
           SELECT id
           FROM   tasks
           WHERE  state = 'new'
           AND    started_at IS NULL
           ORDER  BY id
           LIMIT  1)
RETURNING id;

-- sql/start.sql
-- start: claimed to running
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Start */ tasks
SET    state = 'busy',
       started_at = 1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'taken')
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* tasksq.Complete */ FROM tasks
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state IN ('taken', 'busy'))
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Fail */ tasks
SET    state = 'new'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state IN ('taken', 'busy'))
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Requeue */ tasks
SET    state = 'new'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state IN ('taken', 'busy'))
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* tasksq.Enqueue */ INTO tasks
       (state)
VALUES ('new')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE state = 'new' AND started_at IS NULL) AS ready,
       count(*) FILTER (WHERE state = 'taken') AS claimed,
       count(*) FILTER (WHERE state = 'busy') AS running
FROM   tasks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new' AND started_at IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id
FROM   tasks
WHERE  state = 'new'
AND    started_at IS NULL
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
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
WITH /* tasksq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('started_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tasks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* tasksq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('tasks_ready', 'id', 'id', 'state=''new''andstarted_atisnull')
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
    FROM   pragma_index_list('tasks') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX tasks_ready ON tasks (id)
WHERE  state = 'new'
AND    started_at IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
