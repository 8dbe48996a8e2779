-- Package compositeq uses the table d_mm7 as a queue of jobs on SQLite 3.38 and later.
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
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates d_mm7_composite_ready.
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
-- note: no order is said: rows are taken in the order of the key, message_id, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (message_id, id) WHERE status = 'Q'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* compositeq.Claim */ d_mm7
SET    status = 'R'
WHERE  rowid IN (
           SELECT rowid
           FROM   d_mm7
           WHERE  status = 'Q'
           ORDER  BY message_id, id
           LIMIT  ?1)
RETURNING message_id, id, server_id, send_attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (message_id, id) WHERE status = 'Q'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* compositeq.Claim */ d_mm7
SET    status = 'R'
WHERE  rowid = (
           SELECT rowid
           FROM   d_mm7
           WHERE  status = 'Q'
           ORDER  BY message_id, id
           LIMIT  1)
RETURNING message_id, id, server_id, send_attempts;

-- sql/payload.sql
-- payload: what claimed jobs have in d_mc7
-- locks: none
-- index: the key
-- arguments: 1: batch_all MessageID ID
SELECT /* compositeq.Payload */
       d_mm7.message_id, d_mm7.id, c.content
FROM   (
           SELECT json_extract(value, '$[0]') AS message_id_held,
                  json_extract(value, '$[1]') AS id_held
           FROM   json_each(?1)
       ) AS job
       CROSS JOIN d_mm7
       ON  d_mm7.message_id = message_id_held
       AND d_mm7.id = id_held
       LEFT JOIN d_mc7 c
       ON  (c.message_id = d_mm7.message_id and c.metadata_id = d_mm7.id and c.content_type = 4);

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
UPDATE /* compositeq.Complete */ d_mm7
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

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MessageID ID
UPDATE /* compositeq.Fail */ d_mm7
SET    status = 'E'
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
UPDATE /* compositeq.Requeue */ d_mm7
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
UPDATE /* compositeq.Redrive */ d_mm7
SET    status = 'Q'
WHERE  rowid IN (
           SELECT rowid
           FROM   d_mm7
           WHERE  status = 'E'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'S' would find them
-- arguments: 1: limit
DELETE /* compositeq.Purge */ FROM d_mm7
WHERE  rowid IN (
           SELECT rowid
           FROM   d_mm7
           WHERE  status = 'S'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'E' would find them
-- arguments: 1: limit
DELETE /* compositeq.Purge */ FROM d_mm7
WHERE  rowid IN (
           SELECT rowid
           FROM   d_mm7
           WHERE  status = 'E'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID, 4: new SendAttempts
INSERT /* compositeq.Enqueue */ INTO d_mm7
       (message_id, id, server_id, status, send_attempts)
VALUES (?1, ?2, ?3, 'Q', coalesce(?4, 0))
RETURNING message_id, id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all MessageID ID ServerID SendAttempts
INSERT /* compositeq.EnqueueMany */ INTO d_mm7
       (message_id, id, server_id, status, send_attempts)
SELECT message_id_new, id_new, server_id_new, 'Q', coalesce(send_attempts_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS message_id_new,
                  json_extract(value, '$[1]') AS id_new,
                  json_extract(value, '$[2]') AS server_id_new,
                  json_extract(value, '$[3]') AS send_attempts_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING message_id, id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* compositeq.Stats */
       count(*) FILTER (WHERE status = 'Q') AS ready,
       count(*) FILTER (WHERE status = 'R') AS running,
       count(*) FILTER (WHERE status = 'S') AS done,
       count(*) FILTER (WHERE status = 'E') AS failed
FROM   d_mm7;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (message_id, id) WHERE status = 'Q'
SELECT /* compositeq.Backlog */
       count(*) AS ready
FROM   d_mm7
WHERE  status = 'Q';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (message_id, id) WHERE status = 'Q'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* compositeq.Peek */
       message_id, id, server_id, send_attempts
FROM   d_mm7
WHERE  status = 'Q'
ORDER  BY message_id, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* compositeq.Verify */
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
WITH /* compositeq.Verify */ want (name, type) AS (
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
LEFT   JOIN pragma_table_xinfo('d_mm7') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_payload.sql
-- verify: columns of d_mc7
-- locks: none
WITH /* compositeq.Verify */ want (name, type) AS (
    VALUES ('content', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('d_mc7') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* compositeq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('d_mm7_composite_ready', 'message_id, id', 'message_id, id', 'status=''q''')
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
    FROM   pragma_index_list('d_mm7') AS l
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
CREATE INDEX d_mm7_composite_ready ON d_mm7 (message_id, id)
WHERE  status = 'Q';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
