-- Package tasksq uses the table tasks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes records (Claim, Complete, Requeue, Fail, Recover, Redrive), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready and tasks_expired.
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
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE free = 1; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* tasksq.Claim */ tasks
SET    free = 0,
       since = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  free = 1
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, record, since;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE free = 1; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* tasksq.Claim */ tasks
SET    free = 0,
       since = unixepoch()
WHERE  id = (
           SELECT id
           FROM   tasks
           WHERE  free = 1
           ORDER  BY id
           LIMIT  1)
RETURNING id, record, since;

-- sql/claim_update_records.sql
-- claim: updates rows of records for the rows that were taken
-- locks: the database for writing, while the statement runs
-- index: the key; of records one that begins with id
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Claim */ records
SET    status = 'running'
FROM   tasks AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    records.id = held.record;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
SELECT /* tasksq.Complete */
       id
FROM   tasks
WHERE  (id, since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    +((free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')));

-- sql/complete_update_records.sql
-- complete: updates rows of records for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of records one that begins with id
-- arguments: 1: batch_all ID Since
UPDATE /* tasksq.Complete */ records
SET    status = 'complete'
FROM   tasks AS held
WHERE  (held.id, held.since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    records.id = held.record;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
DELETE /* tasksq.Complete */ FROM tasks
WHERE  (id, since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
SELECT /* tasksq.Fail */
       id
FROM   tasks
WHERE  (id, since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    +((free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')));

-- sql/fail_update_records.sql
-- fail: updates rows of records for the rows that fail_lock.sql locked, before fail.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of records one that begins with id
-- arguments: 1: batch_all ID Since
UPDATE /* tasksq.Fail */ records
SET    status = 'error'
FROM   tasks AS held
WHERE  (held.id, held.since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    records.id = held.record;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* tasksq.Fail */ tasks
SET    free = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held)
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
SELECT /* tasksq.Requeue */
       id
FROM   tasks
WHERE  (id, since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    +((free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')));

-- sql/requeue_update_records.sql
-- requeue: updates rows of records for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of records one that begins with id
-- arguments: 1: batch_all ID Since
UPDATE /* tasksq.Requeue */ records
SET    status = 'waiting'
FROM   tasks AS held
WHERE  (held.id, held.since) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    records.id = held.record;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* tasksq.Requeue */ tasks
SET    free = 1,
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* tasksq.Extend */ tasks
SET    since = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')))
RETURNING id, since;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (since); until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* tasksq.Recover */
       id
FROM   tasks
WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
AND    since <= unixepoch() - 10
LIMIT  ?1;

-- sql/recover_update_records.sql
-- recover: updates rows of records for the rows that recover_lock.sql locked, before recover.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of records one that begins with id
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Recover */ records
SET    status = 'waiting'
FROM   tasks AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    records.id = held.record;

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Recover */ tasks
SET    free = 1,
       since = NULL
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
RETURNING id;

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
SELECT /* tasksq.Redrive */
       id
FROM   tasks
WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))
LIMIT  ?1;

-- sql/redrive_update_records.sql
-- redrive: updates rows of records for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of records one that begins with id
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Redrive */ records
SET    status = 'waiting'
FROM   tasks AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    records.id = held.record;

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
UPDATE /* tasksq.Redrive */ tasks
SET    free = 1,
       since = NULL
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
RETURNING id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id IN (
           SELECT id
           FROM   tasks
           WHERE  (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))
           AND    since <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* tasksq.Reserve */ FROM tasks
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Record
INSERT /* tasksq.Enqueue */ INTO tasks
       (record, free)
VALUES (?1, 1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Record
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (record, free)
SELECT record_new, 1
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS record_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE free = 1) AS ready,
       count(*) FILTER (WHERE (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))) AS running,
       count(*) FILTER (WHERE (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))) AS failed,
       count(*) FILTER (WHERE (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) AND since <= unixepoch() - 10) AS expired,
       (unixepoch() - min(since) FILTER (WHERE (free = 0 and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')))) AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE free = 1
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  free = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE free = 1; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, record
FROM   tasks
WHERE  free = 1
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
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
WITH /* tasksq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('record', 'INTEGER'),
           ('free', 'INTEGER'),
           ('since', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tasks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of records
-- locks: none
WITH /* tasksq.Verify */ want (name, type) AS (
    VALUES ('status', 'TEXT'),
           ('id', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('records') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* tasksq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('tasks_ready', 'id', 'id', 'free=1'),
           ('tasks_expired', 'since', 'since', '')
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
    FROM   pragma_index_list('tasks') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX tasks_ready ON tasks (id)
WHERE  free = 1;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX tasks_expired ON tasks (since);
