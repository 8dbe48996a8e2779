-- Package partsq uses the table parts as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parts_ready.
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
-- note: the key is host, part: unique, and no row with a null there is a job, as qgen:where says; there is no primary key
-- note: no order is said: rows are taken in the order of the key, host, part
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (host, part) WHERE state = 0 AND kind = 'part'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* partsq.Claim */ parts
SET    state = 1
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 0
           AND    (part > 0 and kind = 'part')
           ORDER  BY host, part
           LIMIT  ?1)
RETURNING host, part;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (host, part) WHERE state = 0 AND kind = 'part'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* partsq.Claim */ parts
SET    state = 1
WHERE  rowid = (
           SELECT rowid
           FROM   parts
           WHERE  state = 0
           AND    (part > 0 and kind = 'part')
           ORDER  BY host, part
           LIMIT  1)
RETURNING host, part;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Host Part
UPDATE /* partsq.Complete */ parts
SET    state = 2
FROM   (
           SELECT json_extract(value, '$[0]') AS host_held,
                  json_extract(value, '$[1]') AS part_held
           FROM   json_each(?1)
       ) AS job
WHERE  host = host_held
AND    part = part_held
AND    +(state = 1)
RETURNING host, part;

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Host Part
UPDATE /* partsq.Fail */ parts
SET    state = 3
FROM   (
           SELECT json_extract(value, '$[0]') AS host_held,
                  json_extract(value, '$[1]') AS part_held
           FROM   json_each(?1)
       ) AS job
WHERE  host = host_held
AND    part = part_held
AND    +(state = 1)
RETURNING host, part;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Host Part
UPDATE /* partsq.Requeue */ parts
SET    state = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS host_held,
                  json_extract(value, '$[1]') AS part_held
           FROM   json_each(?1)
       ) AS job
WHERE  host = host_held
AND    part = part_held
AND    +(state = 1)
RETURNING host, part;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* partsq.Redrive */ parts
SET    state = 0
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 3
           AND    (part > 0 and kind = 'part')
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (host, part) WHERE state = 2 AND kind = 'part' AND (part > 0 and kind = 'part') would find them
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM parts
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 2
           AND    (part > 0 and kind = 'part')
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (host, part) WHERE state = 3 AND kind = 'part' AND (part > 0 and kind = 'part') would find them
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM parts
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 3
           AND    (part > 0 and kind = 'part')
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Host, 2: new Part
INSERT /* partsq.Enqueue */ INTO parts
       (host, part, kind, state)
VALUES (?1, ?2, 'part', 0)
RETURNING host, part;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Host Part
INSERT /* partsq.EnqueueMany */ INTO parts
       (host, part, kind, state)
SELECT host_new, part_new, 'part', 0
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS host_new,
                  json_extract(value, '$[1]') AS part_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING host, part;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state = 3) AS failed
FROM   parts
WHERE  (part > 0 and kind = 'part');

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (host, part) WHERE state = 0 AND kind = 'part'; it reads others as well
SELECT /* partsq.Backlog */
       count(*) AS ready
FROM   parts
WHERE  state = 0
AND    (part > 0 and kind = 'part');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (host, part) WHERE state = 0 AND kind = 'part'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* partsq.Peek */
       host, part
FROM   parts
WHERE  state = 0
AND    (part > 0 and kind = 'part')
ORDER  BY host, part
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
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
WITH /* partsq.Verify */ want (name, type) AS (
    VALUES ('host', 'TEXT'),
           ('part', 'INTEGER'),
           ('kind', 'TEXT'),
           ('state', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('parts') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* partsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('parts_ready', 'host, part', 'host, part', 'state=0andkind=''part''')
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
    FROM   pragma_index_list('parts') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX parts_ready ON parts (host, part)
WHERE  state = 0
AND    kind = 'part';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
