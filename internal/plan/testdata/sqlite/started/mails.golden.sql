-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
-- 	running  --Recover---------> failed, when the program starts and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and Recover takes it as it takes a running one.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs claimed or running until the program starts again; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Node, 2: limit
UPDATE /* mailsq.Claim */ mails
SET    state = 'C',
       node = ?1
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'N'
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, tries, node, error;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Node
UPDATE /* mailsq.Claim */ mails
SET    state = 'C',
       node = ?1
WHERE  id = (
           SELECT id
           FROM   mails
           WHERE  state = 'N'
           ORDER  BY id
           LIMIT  1)
RETURNING id, tries, node, error;

-- sql/start.sql
-- start: claimed to running
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* mailsq.Start */ mails
SET    state = 'A'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state = 'C')
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* mailsq.Complete */ mails
SET    state = 'D'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state IN ('C', 'A'))
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Node
UPDATE /* mailsq.Fail */ mails
SET    state = 'N',
       tries = tries + 1,
       node = NULL,
       error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state IN ('C', 'A'))
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Node
UPDATE /* mailsq.Fail */ mails
SET    state = 'F',
       tries = tries + 1,
       error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state IN ('C', 'A'))
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Node
UPDATE /* mailsq.Requeue */ mails
SET    state = 'N',
       node = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(node = node_held
      AND    state IN ('C', 'A'))
RETURNING id;

-- sql/recover.sql
-- recover: claimed or running to ready, when the program starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 'N',
       tries = tries + 1,
       node = NULL
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state IN ('C', 'A')
           AND    tries < 1
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: claimed or running with no tries left to failed, when the program starts
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 'F',
       tries = tries + 1,
       error = 'the claim ran out'
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state IN ('C', 'A')
           AND    tries >= 1
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* mailsq.Redrive */ mails
SET    state = 'N',
       tries = 0,
       node = NULL
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'D'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'F' would find them
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* mailsq.Enqueue */ INTO mails
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'C') AS claimed,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N'
SELECT /* mailsq.Backlog */
       count(*) AS ready
FROM   mails
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, tries, error
FROM   mails
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('tries', 'INTEGER'),
           ('node', 'TEXT'),
           ('error', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* mailsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('mails_ready', 'id', 'id', 'state=''n''')
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
    FROM   pragma_index_list('mails') AS l
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
CREATE INDEX mails_ready ON mails (id)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
