-- Package systasksq uses the table systasks as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates systasks_ready and systasks_expired and systasks_like.
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
-- note: enqueue=absent leaves a job out where a row is like it in kind, target, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'TODO'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* systasksq.Claim */ systasks
SET    status = 'WIP',
       since = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   systasks
           WHERE  status = 'TODO'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, kind, target, since;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE status = 'TODO'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* systasksq.Claim */ systasks
SET    status = 'WIP',
       since = unixepoch()
WHERE  id = (
           SELECT id
           FROM   systasks
           WHERE  status = 'TODO'
           ORDER  BY id
           LIMIT  1)
RETURNING id, kind, target, since;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Complete */ systasks
SET    status = 'DONE'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'WIP')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Fail */ systasks
SET    status = 'ERROR'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'WIP')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Requeue */ systasks
SET    status = 'TODO',
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'WIP')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* systasksq.Extend */ systasks
SET    since = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    status = 'WIP')
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (since) WHERE status = 'WIP'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* systasksq.Recover */ systasks
SET    status = 'TODO',
       since = NULL
WHERE  id IN (
           SELECT id
           FROM   systasks
           WHERE  status = 'WIP'
           AND    since <= unixepoch() - 3600
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* systasksq.Redrive */ systasks
SET    status = 'TODO',
       since = NULL
WHERE  id IN (
           SELECT id
           FROM   systasks
           WHERE  status = 'ERROR'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'DONE' would find them
-- arguments: 1: older, 2: limit
DELETE /* systasksq.Purge */ FROM systasks
WHERE  id IN (
           SELECT id
           FROM   systasks
           WHERE  status = 'DONE'
           AND    since <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'ERROR' would find them
-- arguments: 1: older, 2: limit
DELETE /* systasksq.Purge */ FROM systasks
WHERE  id IN (
           SELECT id
           FROM   systasks
           WHERE  status = 'ERROR'
           AND    since <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in kind, target, of those that are ready: then it adds none
-- locks: the database for writing, while the statement runs
-- index: (kind, target) WHERE status = 'TODO'
-- arguments: 1: new Kind, 2: new Target
INSERT /* systasksq.Enqueue */ INTO systasks
       (kind, target)
SELECT ?1, ?2
WHERE  NOT EXISTS (
           SELECT 1
           FROM   systasks
           WHERE  kind = ?1
           AND    target IS ?2
           AND    status = 'TODO')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* systasksq.Stats */
       count(*) FILTER (WHERE status = 'TODO') AS ready,
       count(*) FILTER (WHERE status = 'WIP') AS running,
       count(*) FILTER (WHERE status = 'DONE') AS done,
       count(*) FILTER (WHERE status = 'ERROR') AS failed,
       count(*) FILTER (WHERE status = 'WIP' AND since <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(since) FILTER (WHERE status = 'WIP')) AS oldest_running
FROM   systasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE status = 'TODO'
SELECT /* systasksq.Backlog */
       count(*) AS ready
FROM   systasks
WHERE  status = 'TODO';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status = 'TODO'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* systasksq.Peek */
       id, kind, target
FROM   systasks
WHERE  status = 'TODO'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* systasksq.Verify */
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
WITH /* systasksq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('kind', 'text'),
           ('target', 'int'),
           ('status', 'varchar(10)'),
           ('since', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('systasks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* systasksq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('systasks_ready', 'id', 'id', 'status=''todo'''),
           ('systasks_expired', 'since', 'since', 'status=''wip'''),
           ('systasks_like', 'kind, target', 'kind, target', 'status=''todo''')
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
    FROM   pragma_index_list('systasks') AS l
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
CREATE INDEX systasks_ready ON systasks (id)
WHERE  status = 'TODO';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX systasks_expired ON systasks (since)
WHERE  status = 'WIP';

-- serves Enqueue: the rows that are like a new job; systasks_kind leads to these rows among others: where those are few, decline this one (indexes: {like: false})
CREATE INDEX systasks_like ON systasks (kind, target)
WHERE  status = 'TODO';
