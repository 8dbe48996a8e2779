-- Package pushesq uses the table pushes as a queue of jobs on SQLite 3.41 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pushes_ready.
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
-- note: no order is said: rows are taken in the order of the key, name; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=update changes the row that is like a new job in name (primary key): run_at = ({new}.run_at), pause = ({new}.pause), "last" = ({new}."last")
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (name, run_at) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* pushesq.Claim */ pushes
SET    state = 1
WHERE  rowid IN (
           SELECT rowid
           FROM   pushes
           WHERE  state = 0
           AND    (run_at <= unixepoch() OR run_at IS NULL)
           ORDER  BY name
           LIMIT  ?1)
RETURNING name, run_at, pause;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (name, run_at) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* pushesq.Claim */ pushes
SET    state = 1
WHERE  rowid = (
           SELECT rowid
           FROM   pushes
           WHERE  state = 0
           AND    (run_at <= unixepoch() OR run_at IS NULL)
           ORDER  BY name
           LIMIT  1)
RETURNING name, run_at, pause;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Name
DELETE /* pushesq.Complete */ FROM pushes
WHERE  name IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 1)
RETURNING name;

-- sql/retry.sql
-- retry: running to ready
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all Name
UPDATE /* pushesq.Fail */ pushes
SET    state = 0,
       run_at = CAST(unixepoch() + ?1 AS INTEGER)
WHERE  name IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(state = 1)
RETURNING name;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all Name
UPDATE /* pushesq.Requeue */ pushes
SET    state = 0,
       run_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE run_at END
WHERE  name IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(state = 1)
RETURNING name;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in name (primary key)
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Name, 2: new Pause, 3: new Delay
INSERT /* pushesq.Enqueue */ INTO pushes
       (name, run_at, pause, "last")
VALUES (?1, (unixepoch() + ?2), ?2, CAST(unixepoch() + ?3 AS INTEGER))
ON     CONFLICT (name) DO UPDATE
SET    run_at = (excluded.run_at),
       pause = (excluded.pause),
       "last" = (excluded."last")
RETURNING name;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pushesq.Stats */
       count(*) FILTER (WHERE state = 0 AND (run_at <= unixepoch() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 0 AND run_at > unixepoch()) AS delayed,
       (unixepoch() - min(run_at) FILTER (WHERE state = 0 AND (run_at <= unixepoch() OR run_at IS NULL))) AS oldest_ready
FROM   pushes;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (name, run_at) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* pushesq.Peek */
       name, run_at, pause
FROM   pushes
WHERE  state = 0
AND    (run_at <= unixepoch() OR run_at IS NULL)
ORDER  BY name
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pushesq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.41'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 41);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* pushesq.Verify */ want (name, type) AS (
    VALUES ('name', 'TEXT'),
           ('state', 'INTEGER'),
           ('run_at', 'INTEGER'),
           ('pause', 'INTEGER'),
           ('last', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('pushes') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* pushesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('pushes_ready', 'name', 'name', 'state=0')
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
    FROM   pragma_index_list('pushes') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX pushes_ready ON pushes (name, run_at)
WHERE  state = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
