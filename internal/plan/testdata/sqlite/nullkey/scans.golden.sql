-- Package scansq uses the table scans as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates scans_ready.
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
-- note: the key is report: unique, and no row with a null there is a job, as qgen:where says; there is no primary key
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (start, report); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* scansq.Claim */ scans
SET    till = unixepoch() + 300
WHERE  rowid IN (
           SELECT rowid
           FROM   scans
           WHERE  (till <= unixepoch() OR till IS NULL)
           AND    (report is not null)
           ORDER  BY start, report
           LIMIT  ?1)
RETURNING report, body, start, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (start, report); until the schema that qgen reads has it, the server may take another and sort
UPDATE /* scansq.Claim */ scans
SET    till = unixepoch() + 300
WHERE  rowid = (
           SELECT rowid
           FROM   scans
           WHERE  (till <= unixepoch() OR till IS NULL)
           AND    (report is not null)
           ORDER  BY start, report
           LIMIT  1)
RETURNING report, body, start, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Report Till
DELETE /* scansq.Complete */ FROM scans
WHERE  (report, till) IN (
           SELECT json_extract(value, '$[0]') AS report_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(till IS NOT NULL)
RETURNING report;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Report Till
UPDATE /* scansq.Fail */ scans
SET    till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS report_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  report = report_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING report;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Report Till
UPDATE /* scansq.Requeue */ scans
SET    till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS report_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  report = report_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING report;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Report Till
UPDATE /* scansq.Extend */ scans
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS report_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  report = report_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING report, till;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Report, 2: new Body, 3: new Start
INSERT /* scansq.Enqueue */ INTO scans
       (report, body, start)
VALUES (?1, ?2, ?3)
RETURNING report;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Report Body Start
INSERT /* scansq.EnqueueMany */ INTO scans
       (report, body, start)
SELECT report_new, body_new, start_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS report_new,
                  json_extract(value, '$[1]') AS body_new,
                  json_extract(value, '$[2]') AS start_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING report;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* scansq.Stats */
       count(*) FILTER (WHERE (till <= unixepoch() OR till IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > unixepoch()) AS running,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= unixepoch()) AS expired
FROM   scans
WHERE  (report is not null);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (start, report); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* scansq.Peek */
       report, body, start
FROM   scans
WHERE  (till <= unixepoch() OR till IS NULL)
AND    (report is not null)
ORDER  BY start, report
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* scansq.Verify */
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
WITH /* scansq.Verify */ want (name, type) AS (
    VALUES ('report', 'INTEGER'),
           ('body', 'TEXT'),
           ('start', 'INTEGER'),
           ('till', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('scans') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* scansq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('scans_ready', 'start, report', 'start, report', '')
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
    FROM   pragma_index_list('scans') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
CREATE INDEX scans_ready ON scans (start, report);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
