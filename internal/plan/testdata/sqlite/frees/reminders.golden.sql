-- Package remindersq uses the table silo as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its worker starts again
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until a worker of its name starts; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates silo_reminders_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: warning: nothing tells what runs here from what runs in the queue sms over the same table, so Recover of each, which Work calls when it starts, takes the running jobs of the other as well where workers of both have one name: give the workers of each queue names of their own (WithWorker); or say recover= at one of them only, and start that before the other claims
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE node = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Node, 2: limit
UPDATE /* remindersq.Claim */ silo
SET    node = ?1
WHERE  id IN (
           SELECT id
           FROM   silo
           WHERE  node = 0
           AND    (sent <> 0)
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, sent, node;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE node = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Node
UPDATE /* remindersq.Claim */ silo
SET    node = ?1
WHERE  id = (
           SELECT id
           FROM   silo
           WHERE  node = 0
           AND    (sent <> 0)
           ORDER  BY id
           LIMIT  1)
RETURNING id, sent, node;

-- sql/complete.sql
-- complete: running to done
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
DELETE /* remindersq.Complete */ FROM silo
WHERE  (id, node) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1))
AND    +(node <> 0)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* remindersq.Fail */ silo
SET    sent = 0,
       node = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    node <> 0)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* remindersq.Requeue */ silo
SET    node = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    node <> 0)
RETURNING id;

-- sql/recover.sql
-- recover: running by this worker to ready, when it starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: worker Node, 2: limit
UPDATE /* remindersq.Recover */ silo
SET    node = 0
WHERE  id IN (
           SELECT id
           FROM   silo
           WHERE  node <> 0
           AND    node = ?1
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Sent
INSERT /* remindersq.Enqueue */ INTO silo
       (sent)
VALUES (coalesce(?1, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Sent
INSERT /* remindersq.EnqueueMany */ INTO silo
       (sent)
SELECT coalesce(sent_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS sent_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* remindersq.Stats */
       count(*) FILTER (WHERE node = 0 AND (sent <> 0)) AS ready,
       count(*) FILTER (WHERE node <> 0) AS running
FROM   silo;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE node = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* remindersq.Peek */
       id, sent, node
FROM   silo
WHERE  node = 0
AND    (sent <> 0)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* remindersq.Verify */
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
WITH /* remindersq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('sent', 'INTEGER'),
           ('node', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('silo') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* remindersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('silo_reminders_ready', 'id', 'id', 'node=0')
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
    FROM   pragma_index_list('silo') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that a condition of the queue refuses are read and passed over
CREATE INDEX silo_reminders_ready ON silo (id)
WHERE  node = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
