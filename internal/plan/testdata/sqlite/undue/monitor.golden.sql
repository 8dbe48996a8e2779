-- Package monitorq uses the table monitor as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates monitor_ready.
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
-- note: column "at" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: on release, column "at" stays as it is, as qgen:on says, and does not get now − 5m as qgen:due would
-- note: rows are taken as they came, by column "id"; order 1 at column "at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "at", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Host, 2: limit
UPDATE /* monitorq.Claim */ monitor
SET    host = ?1,
       at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   monitor
           WHERE  state = 'new'
           AND    (at <= unixepoch() - 600 OR host IS NULL)
           AND    at <= unixepoch() - 300
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, host, at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Host
UPDATE /* monitorq.Claim */ monitor
SET    host = ?1,
       at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   monitor
           WHERE  state = 'new'
           AND    (at <= unixepoch() - 600 OR host IS NULL)
           AND    at <= unixepoch() - 300
           ORDER  BY id
           LIMIT  1)
RETURNING id, host, at;

-- sql/complete.sql
-- complete: running to done
-- fence: at, host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID At Host
UPDATE /* monitorq.Complete */ monitor
SET    state = 'done',
       host = NULL,
       at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS host_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    host = host_held
      AND    host IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: at, host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID At Host
UPDATE /* monitorq.Fail */ monitor
SET    host = NULL,
       at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS host_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    host = host_held
      AND    host IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at, host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID At Host
UPDATE /* monitorq.Requeue */ monitor
SET    host = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS host_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    host = host_held
      AND    host IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at, host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID At Host
UPDATE /* monitorq.Extend */ monitor
SET    at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS at_held,
                  json_extract(value, '$[2]') AS host_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(at = at_held
      AND    host = host_held
      AND    host IS NOT NULL)
RETURNING id, at;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (at) WHERE state = 'done' AND host IS NULL would find them
-- arguments: 1: older, 2: limit
DELETE /* monitorq.Purge */ FROM monitor
WHERE  id IN (
           SELECT id
           FROM   monitor
           WHERE  state = 'done'
           AND    host IS NULL
           AND    at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new At
INSERT /* monitorq.Enqueue */ INTO monitor
       (at)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all At
INSERT /* monitorq.EnqueueMany */ INTO monitor
       (at)
SELECT at_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* monitorq.Stats */
       count(*) FILTER (WHERE state = 'new' AND (at <= unixepoch() - 600 OR host IS NULL) AND at <= unixepoch() - 300) AS ready,
       count(*) FILTER (WHERE host IS NOT NULL AND at > unixepoch() - 600) AS running,
       count(*) FILTER (WHERE state = 'done' AND host IS NULL) AS done,
       count(*) FILTER (WHERE state = 'new' AND at > unixepoch() - 600) AS delayed,
       count(*) FILTER (WHERE host IS NOT NULL AND at <= unixepoch() - 600) AS expired,
       (unixepoch() - min(at) FILTER (WHERE host IS NOT NULL AND at > unixepoch() - 600)) AS oldest_running
FROM   monitor;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* monitorq.Backlog */
       count(*) FILTER (WHERE (at <= unixepoch() - 600 OR host IS NULL) AND at <= unixepoch() - 300) AS ready,
       count(*) FILTER (WHERE at > unixepoch() - 600) AS delayed
FROM   monitor
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* monitorq.Peek */
       id
FROM   monitor
WHERE  state = 'new'
AND    (at <= unixepoch() - 600 OR host IS NULL)
AND    at <= unixepoch() - 300
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* monitorq.Verify */
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
WITH /* monitorq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('host', 'TEXT'),
           ('at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('monitor') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* monitorq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('monitor_ready', 'id', 'id', 'state=''new''')
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
    FROM   pragma_index_list('monitor') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX monitor_ready ON monitor (id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
