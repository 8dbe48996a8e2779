-- Package waitsq uses the table waits as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes specs (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates waits_ready.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* waitsq.Claim */ waits
SET    state = 'A'
WHERE  id IN (
           SELECT id
           FROM   waits
           WHERE  state = 'N'
           AND    run_at <= unixepoch()
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, run_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* waitsq.Claim */ waits
SET    state = 'A'
WHERE  id = (
           SELECT id
           FROM   waits
           WHERE  state = 'N'
           AND    run_at <= unixepoch()
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_at;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* waitsq.Complete */ waits
SET    state = 'D'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'A')
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
SELECT /* waitsq.Fail */
       id
FROM   waits
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'A');

-- sql/retry.sql
-- retry: running to ready
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* waitsq.Fail */ waits
SET    state = 'N',
       run_at = CAST(unixepoch() + ((select s.pause * (1 << s.tries) from specs s where s.wait_id = waits.id)) AS INTEGER)
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'A')
RETURNING id;

-- sql/retry_update_specs.sql
-- retry: updates rows of specs for the rows that retry_lock.sql locked, behind retry.sql, which read what it changes
-- locks: the database for writing, while the statement runs
-- index: the key; of specs one that begins with wait_id
-- arguments: 1: batch_all ID
UPDATE /* waitsq.Fail */ specs
SET    tries = (specs.tries + 1)
FROM   waits AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    specs.wait_id = held.id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* waitsq.Requeue */ waits
SET    state = 'N',
       run_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE run_at END
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(state = 'A')
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* waitsq.Purge */ FROM waits
WHERE  id IN (
           SELECT id
           FROM   waits
           WHERE  state = 'D'
           LIMIT  ?1);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* waitsq.Reserve */ FROM waits
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt
INSERT /* waitsq.Enqueue */ INTO waits
       (run_at)
VALUES (coalesce(?1, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt
INSERT /* waitsq.EnqueueMany */ INTO waits
       (run_at)
SELECT coalesce(run_at_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS run_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND run_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'N' AND run_at > unixepoch()) AS delayed,
       (unixepoch() - min(run_at) FILTER (WHERE state = 'N' AND run_at <= unixepoch())) AS oldest_ready
FROM   waits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_at) WHERE state = 'N'
SELECT /* waitsq.Backlog */
       count(*) FILTER (WHERE run_at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE run_at > unixepoch()) AS delayed,
       (unixepoch() - min(run_at) FILTER (WHERE run_at <= unixepoch())) AS oldest_ready
FROM   waits
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       id, run_at
FROM   waits
WHERE  state = 'N'
AND    run_at <= unixepoch()
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
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
WITH /* waitsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('run_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('waits') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of specs
-- locks: none
WITH /* waitsq.Verify */ want (name, type) AS (
    VALUES ('tries', 'INTEGER'),
           ('wait_id', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('specs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* waitsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('waits_ready', 'id', 'id', 'state=''n''')
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
    FROM   pragma_index_list('waits') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX waits_ready ON waits (id, run_at)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
