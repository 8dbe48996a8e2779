-- Package itemsq uses the table items as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_ready and items_expired.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where ((select count(*) from items q where q.queue_id = {new}.queue_id and q.status = 'pending') < {arg:most}), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'pending'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* itemsq.Claim */ items
SET    status = 'in_progress',
       since = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  status = 'pending'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, queue_id, data, since;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'pending'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* itemsq.Claim */ items
SET    status = 'in_progress',
       since = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   items
           WHERE  status = 'pending'
           ORDER  BY id
           LIMIT  1)
RETURNING id, queue_id, data, since;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* itemsq.Complete */ items
SET    status = 'completed'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'in_progress')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* itemsq.Fail */ items
SET    status = 'failed'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'in_progress')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* itemsq.Requeue */ items
SET    status = 'pending',
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'in_progress')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* itemsq.Extend */ items
SET    since = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'in_progress')
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (since) WHERE status = 'in_progress'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* itemsq.Recover */ items
SET    status = 'pending',
       since = NULL
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  status = 'in_progress'
           AND    since <= CAST((julianday('now') - 2440587.5) * 86400000 - 3600 * 1000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* itemsq.Redrive */ items
SET    status = 'pending',
       since = NULL
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  status = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'completed' would find them
-- arguments: 1: older, 2: limit
DELETE /* itemsq.Purge */ FROM items
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  status = 'completed'
           AND    since <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'failed' would find them
-- arguments: 1: older, 2: limit
DELETE /* itemsq.Purge */ FROM items
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  status = 'failed'
           AND    since <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none
-- locks: the database for writing, while the statement runs
-- index: whichever finds the rows of enqueue_if
-- arguments: 1: new QueueID, 2: new Data, 3: new Most
INSERT /* itemsq.Enqueue */ INTO items
       (queue_id, data)
SELECT ?1, ?2
WHERE  ((select count(*) from items q where q.queue_id = ?1 and q.status = 'pending') < ?3)
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(*) FILTER (WHERE status = 'pending') AS ready,
       count(*) FILTER (WHERE status = 'in_progress') AS running,
       count(*) FILTER (WHERE status = 'completed') AS done,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'in_progress' AND since <= CAST((julianday('now') - 2440587.5) * 86400000 - 3600 * 1000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(since) FILTER (WHERE status = 'in_progress')) / 1000.0) AS oldest_running
FROM   items;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE status = 'pending'
SELECT /* itemsq.Backlog */
       count(*) AS ready
FROM   items
WHERE  status = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status = 'pending'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* itemsq.Peek */
       id, queue_id, data
FROM   items
WHERE  status = 'pending'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
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
WITH /* itemsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('queue_id', 'text'),
           ('data', 'text'),
           ('status', 'varchar(20)'),
           ('since', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('items') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* itemsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('items_ready', 'id', 'id', 'status=''pending'''),
           ('items_expired', 'since', 'since', 'status=''in_progress''')
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
    FROM   pragma_index_list('items') AS l
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
CREATE INDEX items_ready ON items (id)
WHERE  status = 'pending';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX items_expired ON items (since)
WHERE  status = 'in_progress';
