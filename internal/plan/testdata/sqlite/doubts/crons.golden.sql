-- Package cronsq uses the table crons as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> due again, ready or not by what it writes to result
-- 	running  --Fail------------> ready or not by what it writes to result
-- 	running  --Requeue---------> ready
-- 	running  --Skipped---------> ready or not by what it writes to result
-- 	running  --Recover---------> ready, when the program starts
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was recovered and claimed by another, is not told from that other and can settle its job.
--
-- A job never ends: Complete gives it back, due by what sql/complete.sql writes to next. Who wants one to end deletes its row.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until the program starts again; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates crons_ready.
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
-- note: on done, column "next" gets now + {wait} as qgen:on says, not {next} as qgen:due would
-- note: on retry, column "next" stays as it is, as qgen:on says, and does not get now + {delay} as qgen:due would
-- note: on release, column "next" stays as it is, as qgen:on says, and does not get now + {delay} as qgen:due would
-- note: whether Fail puts the job back is up to what it leaves in column "result", which a condition on ready rows reads, and not known here
-- note: rows are taken as they came, by column "id"; order 1 at column "next" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, next) WHERE running = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param host string, 2: limit
UPDATE /* cronsq.Claim */ crons
SET    running = 1
WHERE  id IN (
           SELECT id
           FROM   crons
           WHERE  running = 0
           AND    next <= unixepoch()
           AND    (deleted = 0 and (result is null or again between 1 and 5) and (host is null or host = ?1))
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, result, again, deleted, host, next;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, next) WHERE running = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param host string
UPDATE /* cronsq.Claim */ crons
SET    running = 1
WHERE  id = (
           SELECT id
           FROM   crons
           WHERE  running = 0
           AND    next <= unixepoch()
           AND    (deleted = 0 and (result is null or again between 1 and 5) and (host is null or host = ?1))
           ORDER  BY id
           LIMIT  1)
RETURNING id, result, again, deleted, host, next;

-- sql/complete.sql
-- complete: running to ready or not, due when its next time comes
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Result Wait
UPDATE /* cronsq.Complete */ crons
SET    running = 0,
       result = result_held,
       next = CAST(unixepoch() + wait_held AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS result_held,
                  json_extract(value, '$[2]') AS wait_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(running = 1)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready or not
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID
UPDATE /* cronsq.Fail */ crons
SET    running = 0,
       result = ?1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(running = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* cronsq.Requeue */ crons
SET    running = 0
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(running = 1)
RETURNING id;

-- sql/outcome_skipped.sql
-- outcome_skipped: running to ready or not
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: given why *string, 2: batch_all ID
UPDATE /* cronsq.Skipped */ crons
SET    running = 0,
       result = ?1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(running = 1)
RETURNING id;

-- sql/recover.sql
-- recover: running to ready, when the program starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* cronsq.Recover */ crons
SET    running = 0
WHERE  id IN (
           SELECT id
           FROM   crons
           WHERE  running = 1
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Again, 2: new Deleted, 3: new Host, 4: new Next
INSERT /* cronsq.Enqueue */ INTO crons
       (again, deleted, host, next)
VALUES (coalesce(?1, 0), coalesce(?2, 0), ?3, ?4)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due and the conditions of the queue hold, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Again Deleted Host Next
INSERT /* cronsq.EnqueueMany */ INTO crons
       (again, deleted, host, next)
SELECT coalesce(again_new, 0), coalesce(deleted_new, 0), host_new, next_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS again_new,
                  json_extract(value, '$[1]') AS deleted_new,
                  json_extract(value, '$[2]') AS host_new,
                  json_extract(value, '$[3]') AS next_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* cronsq.Stats */
       count(*) FILTER (WHERE running = 0 AND next <= unixepoch() AND (deleted = 0) AND ((result is null or again between 1 and 5))) AS ready,
       count(*) FILTER (WHERE running = 1) AS running,
       count(*) FILTER (WHERE running = 0 AND next > unixepoch()) AS delayed,
       (unixepoch() - min(next) FILTER (WHERE running = 0 AND next <= unixepoch() AND (deleted = 0) AND ((result is null or again between 1 and 5)))) AS oldest_ready
FROM   crons;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, next) WHERE running = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param host string, 2: limit
SELECT /* cronsq.Peek */
       id, result, again, deleted, host, next
FROM   crons
WHERE  running = 0
AND    next <= unixepoch()
AND    (deleted = 0 and (result is null or again between 1 and 5) and (host is null or host = ?1))
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* cronsq.Verify */
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
WITH /* cronsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('running', 'INTEGER'),
           ('result', 'TEXT'),
           ('again', 'INTEGER'),
           ('deleted', 'INTEGER'),
           ('host', 'TEXT'),
           ('next', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('crons') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* cronsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('crons_ready', 'id', 'id', 'running=0')
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
    FROM   pragma_index_list('crons') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that a condition of the queue refuses are read and passed over; rows that wait for their time are passed over in it
CREATE INDEX crons_ready ON crons (id, next)
WHERE  running = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
