-- Package buildsq uses the table builds as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates builds_ready and builds_expired.
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
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in build_input_id (unique key builds_input): priority = {priority}, note = {note} unless nil
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job; where it has to run again, a unique index of rows that do not run (WHERE …) has Enqueue add another

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority, id) WHERE worker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Worker, 2: limit
UPDATE /* buildsq.Claim */ builds
SET    started_at = strftime('%Y-%m-%d %H:%M:%f', 'now'),
       worker = ?1
WHERE  id IN (
           SELECT id
           FROM   builds
           WHERE  worker IS NULL
           ORDER  BY priority, id
           LIMIT  ?2)
RETURNING id, build_input_id, priority, queued_at, started_at, worker, note;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority, id) WHERE worker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Worker
UPDATE /* buildsq.Claim */ builds
SET    started_at = strftime('%Y-%m-%d %H:%M:%f', 'now'),
       worker = ?1
WHERE  id = (
           SELECT id
           FROM   builds
           WHERE  worker IS NULL
           ORDER  BY priority, id
           LIMIT  1)
RETURNING id, build_input_id, priority, queued_at, started_at, worker, note;

-- sql/complete.sql
-- complete: running to done
-- fence: started_at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID StartedAt Worker
DELETE /* buildsq.Complete */ FROM builds
WHERE  (id, started_at, worker) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS started_at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1))
AND    +(worker IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: started_at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID StartedAt Worker
UPDATE /* buildsq.Fail */ builds
SET    started_at = NULL,
       worker = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS started_at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(started_at = started_at_held
      AND    worker = worker_held
      AND    worker IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: started_at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID StartedAt Worker
UPDATE /* buildsq.Requeue */ builds
SET    started_at = NULL,
       worker = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS started_at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(started_at = started_at_held
      AND    worker = worker_held
      AND    worker IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: started_at, worker as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID StartedAt Worker
UPDATE /* buildsq.Extend */ builds
SET    started_at = strftime('%Y-%m-%d %H:%M:%f', 'now')
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS started_at_held,
                  json_extract(value, '$[2]') AS worker_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(started_at = started_at_held
      AND    worker = worker_held
      AND    worker IS NOT NULL)
RETURNING id, started_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (started_at) WHERE worker IS NOT NULL; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* buildsq.Recover */ builds
SET    started_at = NULL,
       worker = NULL
WHERE  id IN (
           SELECT id
           FROM   builds
           WHERE  worker IS NOT NULL
           AND    started_at <= strftime('%Y-%m-%d %H:%M:%f', 'now', '-540 seconds')
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in build_input_id (unique key builds_input)
-- locks: the database for writing, while the statement runs
-- arguments: 1: new BuildInputID, 2: new Priority, 3: new Note
INSERT /* buildsq.Enqueue */ INTO builds
       (build_input_id, priority, queued_at, note)
VALUES (?1, ?2, strftime('%Y-%m-%d %H:%M:%S', 'now'), ?3)
ON     CONFLICT (build_input_id) DO UPDATE
SET    priority = excluded.priority,
       note = coalesce(excluded.note, builds.note)
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(*) FILTER (WHERE worker IS NULL) AS ready,
       count(*) FILTER (WHERE worker IS NOT NULL) AS running,
       count(*) FILTER (WHERE worker IS NOT NULL AND started_at <= strftime('%Y-%m-%d %H:%M:%f', 'now', '-540 seconds')) AS expired,
       ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now')) - julianday(min(queued_at) FILTER (WHERE worker IS NULL))) * 86400.0) AS oldest_ready,
       ((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(min(started_at) FILTER (WHERE worker IS NOT NULL))) * 86400.0) AS oldest_running
FROM   builds;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority, id) WHERE worker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* buildsq.Peek */
       id, build_input_id, priority, queued_at, note
FROM   builds
WHERE  worker IS NULL
ORDER  BY priority, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
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
WITH /* buildsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('build_input_id', 'INTEGER'),
           ('priority', 'INTEGER'),
           ('queued_at', 'DATETIME'),
           ('started_at', 'DATETIME'),
           ('worker', 'INTEGER'),
           ('note', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('builds') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* buildsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('builds_ready', 'priority, id', 'priority', 'workerisnull'),
           ('builds_expired', 'started_at', 'started_at', 'workerisnotnull')
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
    FROM   pragma_index_list('builds') AS l
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
CREATE INDEX builds_ready ON builds (priority, id)
WHERE  worker IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX builds_expired ON builds (started_at)
WHERE  worker IS NOT NULL;
