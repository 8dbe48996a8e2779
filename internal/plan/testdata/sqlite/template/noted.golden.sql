-- Package notedq uses the table d_mm{{.Channel}} as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
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
-- Besides the queue's own rows it writes notes (Enqueue, Complete, Purge), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates d_mm{{.Channel}}_mirth_ready.
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
-- note: tries have no limit, so Fail always puts the job back (max= or a column of limits at qgen:attempts, or an outcome to failed)
-- note: no order is said: rows are taken in the order of the key, message_id, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (server_id, message_id, id) WHERE status = 'Q'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param serverID string, 2: limit
UPDATE /* notedq.Claim */ d_mm{{.Channel}}
SET    status = 'R'
WHERE  rowid IN (
           SELECT rowid
           FROM   d_mm{{.Channel}}
           WHERE  status = 'Q'
           AND    server_id = ?1
           ORDER  BY message_id, id
           LIMIT  ?2)
RETURNING message_id, id, server_id, send_attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (server_id, message_id, id) WHERE status = 'Q'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param serverID string
UPDATE /* notedq.Claim */ d_mm{{.Channel}}
SET    status = 'R'
WHERE  rowid = (
           SELECT rowid
           FROM   d_mm{{.Channel}}
           WHERE  status = 'Q'
           AND    server_id = ?1
           ORDER  BY message_id, id
           LIMIT  1)
RETURNING message_id, id, server_id, send_attempts;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
SELECT /* notedq.Complete */
       message_id, id
FROM   d_mm{{.Channel}}
WHERE  (message_id, id) IN (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1))
AND    +(status = 'R');

-- sql/complete_update_notes.sql
-- complete: updates rows of notes for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of notes one that begins with message_id
-- arguments: 1: batch_all MessageID ID
UPDATE /* notedq.Complete */ notes
SET    sent = 1
FROM   d_mm{{.Channel}} AS held
WHERE  (held.message_id, held.id) IN (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1))
AND    notes.message_id = held.message_id;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
UPDATE /* notedq.Complete */ d_mm{{.Channel}}
SET    status = 'S'
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1)
       ) AS job
WHERE  message_id = message_id_held
AND    id = id_held
AND    +(status = 'R')
RETURNING message_id, id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
UPDATE /* notedq.Fail */ d_mm{{.Channel}}
SET    status = 'Q',
       send_attempts = send_attempts + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1)
       ) AS job
WHERE  message_id = message_id_held
AND    id = id_held
AND    +(status = 'R')
RETURNING message_id, id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
UPDATE /* notedq.Requeue */ d_mm{{.Channel}}
SET    status = 'Q'
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1)
       ) AS job
WHERE  message_id = message_id_held
AND    id = id_held
AND    +(status = 'R')
RETURNING message_id, id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* notedq.Redrive */ d_mm{{.Channel}}
SET    status = 'Q',
       send_attempts = 0
WHERE  rowid IN (
           SELECT rowid
           FROM   d_mm{{.Channel}}
           WHERE  status = 'E'
           LIMIT  ?1);

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'S' would find them
-- arguments: 1: limit
SELECT /* notedq.Purge */
       message_id, id
FROM   d_mm{{.Channel}}
WHERE  status = 'S'
LIMIT  ?1;

-- sql/purge_done_delete_notes.sql
-- purge_done: deletes rows from notes for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of notes one that begins with message_id
-- arguments: 1: batch_all MessageID ID
DELETE /* notedq.Purge */ FROM notes
WHERE  message_id IN (
SELECT held.message_id
FROM   d_mm{{.Channel}} AS held
WHERE  (held.message_id, held.id) IN (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1)));

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
DELETE /* notedq.Purge */ FROM d_mm{{.Channel}}
WHERE  (message_id, id) IN (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1))
AND    +(status = 'S')
RETURNING message_id, id;

-- sql/purge_failed_lock.sql
-- purge_failed: locks rows, which purge_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'E' would find them
-- arguments: 1: limit
SELECT /* notedq.Purge */
       message_id, id
FROM   d_mm{{.Channel}}
WHERE  status = 'E'
LIMIT  ?1;

-- sql/purge_failed_delete_notes.sql
-- purge_failed: deletes rows from notes for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of notes one that begins with message_id
-- arguments: 1: batch_all MessageID ID
DELETE /* notedq.Purge */ FROM notes
WHERE  message_id IN (
SELECT held.message_id
FROM   d_mm{{.Channel}} AS held
WHERE  (held.message_id, held.id) IN (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1)));

-- sql/purge_failed.sql
-- purge_failed: failed to gone, of the rows that purge_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
DELETE /* notedq.Purge */ FROM d_mm{{.Channel}}
WHERE  (message_id, id) IN (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1))
AND    +(status = 'E')
RETURNING message_id, id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* notedq.Reserve */ FROM d_mm{{.Channel}}
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID
INSERT /* notedq.Enqueue */ INTO d_mm{{.Channel}}
       (message_id, id, server_id, status)
VALUES (?1, ?2, ?3, 'Q')
RETURNING message_id, id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all MessageID ID ServerID
INSERT /* notedq.EnqueueMany */ INTO d_mm{{.Channel}}
       (message_id, id, server_id, status)
SELECT message_id_new, id_new, server_id_new, 'Q'
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS message_id_new,
                  json_extract(value, '$[1]') AS id_new,
                  json_extract(value, '$[2]') AS server_id_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING message_id, id;

-- sql/enqueue_insert_notes.sql
-- enqueue: inserts rows into notes for the rows that were added
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all MessageID ID
INSERT /* notedq.Enqueue */ INTO notes
       (message_id)
SELECT held.message_id
FROM   d_mm{{.Channel}} AS held
WHERE  (held.message_id, held.id) IN (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notedq.Stats */
       count(*) FILTER (WHERE status = 'Q') AS ready,
       count(*) FILTER (WHERE status = 'R') AS running,
       count(*) FILTER (WHERE status = 'S') AS done,
       count(*) FILTER (WHERE status = 'E') AS failed
FROM   d_mm{{.Channel}};

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same server_id is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param serverID string
SELECT /* notedq.StatsOf */
       count(*) FILTER (WHERE status = 'Q') AS ready,
       count(*) FILTER (WHERE status = 'R') AS running,
       count(*) FILTER (WHERE status = 'S') AS done,
       count(*) FILTER (WHERE status = 'E') AS failed
FROM   d_mm{{.Channel}}
WHERE  server_id = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by server_id
-- locks: none
-- index: (server_id, message_id, id) WHERE status = 'Q'
SELECT /* notedq.Backlog */
       server_id,
       count(*) AS ready
FROM   d_mm{{.Channel}}
WHERE  status = 'Q'
GROUP  BY server_id
ORDER  BY server_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (server_id, message_id, id) WHERE status = 'Q'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param serverID string, 2: limit
SELECT /* notedq.Peek */
       message_id, id, server_id, send_attempts
FROM   d_mm{{.Channel}}
WHERE  status = 'Q'
AND    server_id = ?1
ORDER  BY message_id, id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notedq.Verify */
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
WITH /* notedq.Verify */ want (name, type) AS (
    VALUES ('message_id', 'bigint'),
           ('id', 'integer'),
           ('server_id', 'varchar(36)'),
           ('status', 'char(1)'),
           ('send_attempts', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('d_mm{{.Channel}}') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of notes
-- locks: none
WITH /* notedq.Verify */ want (name, type) AS (
    VALUES ('message_id', 'bigint'),
           ('sent', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('notes') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* notedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('d_mm{{.Channel}}_mirth_ready', 'server_id, message_id, id', 'server_id, message_id, id', 'status=''q''')
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
    FROM   pragma_index_list('d_mm{{.Channel}}') AS l
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
-- mirthq advises the same
CREATE INDEX d_mm{{.Channel}}_mirth_ready ON d_mm{{.Channel}} (server_id, message_id, id)
WHERE  status = 'Q';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
