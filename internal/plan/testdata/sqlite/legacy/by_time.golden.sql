-- Package bytimeq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Beside the old program of legacy_claim a job may be done twice. After a claim: a claim writes till = unixepoch() + 300, and of coalesce(till, 0) < unixepoch() nothing tells whether such a row meets it. After it has taken a row: it writes till = :till, and a claim still takes the row: it asks for status = 0 only. Add the condition status = 0 to the UPDATE of the old program, and let it leave a row alone where no row was changed. Let a claim look at column till, too: ready_if: in qgen.yaml, with what is true of it in a free row.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_by_id_ready and jobs_by_id_expired.
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
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- old program: exclude each other: no
-- old program: after a claim: cannot tell: a claim writes till = unixepoch() + 300, and of coalesce(till, 0) < unixepoch() nothing tells whether such a row meets it
-- old program: after the old one: no: it writes till = :till, and a claim still takes the row: it asks for status = 0 only
-- old program: rows of the old one: are ready
-- old program: rows of a claim: cannot tell: of coalesce(till, 0) < unixepoch() nothing tells whether they meet it
-- old program: what to do: Add the condition status = 0 to the UPDATE of the old program, and let it leave a row alone where no row was changed. Let a claim look at column till, too: ready_if: in qgen.yaml, with what is true of it in a free row.

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* bytimeq.Claim */ jobs
SET    status = 1,
       till = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 0
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, till, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* bytimeq.Claim */ jobs
SET    status = 1,
       till = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  status = 0
           ORDER  BY id
           LIMIT  1)
RETURNING id, till, body;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* bytimeq.Complete */ jobs
SET    status = 2,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 1)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* bytimeq.Fail */ jobs
SET    status = 0,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* bytimeq.Requeue */ jobs
SET    status = 0,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 1)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* bytimeq.Extend */ jobs
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    status = 1)
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE status = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* bytimeq.Recover */ jobs
SET    status = 0,
       till = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 1
           AND    till <= unixepoch()
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE status = 2 would find them
-- arguments: 1: limit
DELETE /* bytimeq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  status = 2
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Body
INSERT /* bytimeq.Enqueue */ INTO jobs
       (body)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Body
INSERT /* bytimeq.EnqueueMany */ INTO jobs
       (body)
SELECT body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* bytimeq.Stats */
       count(*) FILTER (WHERE status = 0) AS ready,
       count(*) FILTER (WHERE status = 1) AS running,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 1 AND till <= unixepoch()) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE status = 0
SELECT /* bytimeq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* bytimeq.Peek */
       id, body
FROM   jobs
WHERE  status = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* bytimeq.Verify */
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
WITH /* bytimeq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('status', 'INTEGER'),
           ('till', 'INTEGER'),
           ('body', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('jobs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* bytimeq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_by_id_ready', 'id', 'id', 'status=0'),
           ('jobs_by_id_expired', 'till', 'till', 'status=1')
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
    FROM   pragma_index_list('jobs') AS l
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
-- byidq advises the same
CREATE INDEX jobs_by_id_ready ON jobs (id)
WHERE  status = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
-- byidq advises the same
CREATE INDEX jobs_by_id_expired ON jobs (till)
WHERE  status = 1;
