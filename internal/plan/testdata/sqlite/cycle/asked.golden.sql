-- Package askedq uses the table asked as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each. Who wants one to end deletes its row.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates asked_ready.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: the count in column "tries" begins anew with every round of a job, so it is no fence; qgen:token or qgen:version is one
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder, 2: limit
UPDATE /* askedq.Claim */ asked
SET    state = 'A',
       tries = tries + 1,
       holder = ?1
WHERE  id IN (
           SELECT id
           FROM   asked
           WHERE  state = 'N'
           AND    run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, run_at, tries, holder;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, run_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder
UPDATE /* askedq.Claim */ asked
SET    state = 'A',
       tries = tries + 1,
       holder = ?1
WHERE  id = (
           SELECT id
           FROM   asked
           WHERE  state = 'N'
           AND    run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           ORDER  BY id
           LIMIT  1)
RETURNING id, run_at, tries, holder;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder Answer Next
UPDATE /* askedq.Complete */ asked
SET    state = 'N',
       run_at = run_at_held,
       tries = 0,
       holder = NULL,
       answer = answer_held
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held,
                  json_extract(value, '$[2]') AS answer_held,
                  json_extract(value, '$[3]') AS run_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Holder
UPDATE /* askedq.Fail */ asked
SET    state = 'N',
       run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(?1))),
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
UPDATE /* askedq.Fail */ asked
SET    state = 'E'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Holder
UPDATE /* askedq.Requeue */ asked
SET    state = 'N',
       run_at = CASE WHEN ?1 > 0.0 THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(?1))) ELSE run_at END,
       tries = tries - 1,
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    state = 'A')
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* askedq.Redrive */ asked
SET    state = 'N',
       tries = 0,
       holder = NULL
WHERE  id IN (
           SELECT id
           FROM   asked
           WHERE  state = 'E'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RunAt
INSERT /* askedq.Enqueue */ INTO asked
       (run_at)
VALUES (coalesce(?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RunAt
INSERT /* askedq.EnqueueMany */ INTO asked
       (run_at)
SELECT coalesce(run_at_new, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
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
SELECT /* askedq.Stats */
       count(*) FILTER (WHERE state = 'N' AND run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'N' AND run_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS delayed,
       ((julianday(strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) - julianday(min(run_at) FILTER (WHERE state = 'N' AND run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))) * 86400.0) AS oldest_ready
FROM   asked;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_at) WHERE state = 'N'
SELECT /* askedq.Backlog */
       count(*) FILTER (WHERE run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS ready,
       count(*) FILTER (WHERE run_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS delayed,
       ((julianday(strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) - julianday(min(run_at) FILTER (WHERE run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))) * 86400.0) AS oldest_ready
FROM   asked
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_at) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* askedq.Peek */
       id, run_at, tries
FROM   asked
WHERE  state = 'N'
AND    run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
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
WITH /* askedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('run_at', 'TEXT'),
           ('tries', 'INTEGER'),
           ('holder', 'TEXT'),
           ('answer', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('asked') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* askedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('asked_ready', 'id', 'id', 'state=''n''')
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
    FROM   pragma_index_list('asked') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX asked_ready ON asked (id, run_at)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
