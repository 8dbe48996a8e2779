-- Package untoldq uses the table untold as a queue of jobs on SQLite 3.38 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates untold_ready and untold_expired.
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
-- note: the status does not tell ready rows from running ones, so qgen:claimed at column "seen" does: a row is ready only while seen is null, and not where something else has left a value there
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "seen", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE ended IS NULL AND seen IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* untoldq.Claim */ untold
SET    ended = NULL,
       seen = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   untold
           WHERE  ended IS NULL
           AND    seen IS NULL
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, every, seen;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE ended IS NULL AND seen IS NULL; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* untoldq.Claim */ untold
SET    ended = NULL,
       seen = unixepoch()
WHERE  id = (
           SELECT id
           FROM   untold
           WHERE  ended IS NULL
           AND    seen IS NULL
           ORDER  BY id
           LIMIT  1)
RETURNING id, every, seen;

-- sql/complete.sql
-- complete: running to done
-- fence: seen as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Seen
UPDATE /* untoldq.Complete */ untold
SET    ended = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS seen_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(seen = seen_held
      AND    ended IS NULL
      AND    seen IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: seen as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Seen
UPDATE /* untoldq.Fail */ untold
SET    ended = NULL,
       seen = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS seen_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(seen = seen_held
      AND    ended IS NULL
      AND    seen IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: seen as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Seen
UPDATE /* untoldq.Requeue */ untold
SET    ended = NULL,
       seen = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS seen_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(seen = seen_held
      AND    ended IS NULL
      AND    seen IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: seen as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Seen
UPDATE /* untoldq.Extend */ untold
SET    seen = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS seen_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(seen = seen_held
      AND    ended IS NULL
      AND    seen IS NOT NULL)
RETURNING id, seen;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE ended IS NULL AND seen IS NOT NULL; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* untoldq.Recover */ untold
SET    ended = NULL,
       seen = NULL
WHERE  id IN (
           SELECT id
           FROM   untold
           WHERE  ended IS NULL
           AND    seen IS NOT NULL
           AND    seen <= CAST(unixepoch() - every AS INTEGER)
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE ended IS NOT NULL would find them
-- arguments: 1: older, 2: limit
DELETE /* untoldq.Purge */ FROM untold
WHERE  id IN (
           SELECT id
           FROM   untold
           WHERE  ended IS NOT NULL
           AND    ended <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Every
INSERT /* untoldq.Enqueue */ INTO untold
       (every)
VALUES (coalesce(?1, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Every
INSERT /* untoldq.EnqueueMany */ INTO untold
       (every)
SELECT coalesce(every_new, 60)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS every_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* untoldq.Stats */
       count(*) FILTER (WHERE ended IS NULL AND seen IS NULL) AS ready,
       count(*) FILTER (WHERE ended IS NULL AND seen IS NOT NULL) AS running,
       count(*) FILTER (WHERE ended IS NOT NULL) AS done,
       count(*) FILTER (WHERE ended IS NULL AND seen IS NOT NULL AND seen <= CAST(unixepoch() - every AS INTEGER)) AS expired,
       (unixepoch() - min(seen) FILTER (WHERE ended IS NULL AND seen IS NOT NULL)) AS oldest_running
FROM   untold;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE ended IS NULL AND seen IS NULL
SELECT /* untoldq.Backlog */
       count(*) AS ready
FROM   untold
WHERE  ended IS NULL
AND    seen IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE ended IS NULL AND seen IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* untoldq.Peek */
       id, every
FROM   untold
WHERE  ended IS NULL
AND    seen IS NULL
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* untoldq.Verify */
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
WITH /* untoldq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('ended', 'INTEGER'),
           ('every', 'INTEGER'),
           ('seen', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('untold') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* untoldq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('untold_ready', 'id', 'id', 'endedisnullandseenisnull'),
           ('untold_expired', 'id', 'id', 'endedisnullandseenisnotnull')
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
    FROM   pragma_index_list('untold') AS l
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
CREATE INDEX untold_ready ON untold (id)
WHERE  ended IS NULL
AND    seen IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: rows that somebody has
CREATE INDEX untold_expired ON untold (id)
WHERE  ended IS NULL
AND    seen IS NOT NULL;
