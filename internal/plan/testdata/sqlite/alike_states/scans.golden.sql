-- Package scansq uses the table scans as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a worker that dies leaves it as it leaves a running one.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs claimed or running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates scans_ready and scans_like.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in tracker, of those that are ready or claimed or running; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'waiting'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* scansq.Claim */ scans
SET    state = 'scheduled'
WHERE  id IN (
           SELECT id
           FROM   scans
           WHERE  state = 'waiting'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, tracker;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'waiting'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* scansq.Claim */ scans
SET    state = 'scheduled'
WHERE  id = (
           SELECT id
           FROM   scans
           WHERE  state = 'waiting'
           ORDER  BY id
           LIMIT  1)
RETURNING id, tracker;

-- sql/start.sql
-- start: claimed to running
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* scansq.Start */ scans
SET    state = 'running'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'scheduled')
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* scansq.Complete */ scans
SET    state = 'success'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state IN ('scheduled', 'running'))
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* scansq.Fail */ scans
SET    state = 'failed'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state IN ('scheduled', 'running'))
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* scansq.Requeue */ scans
SET    state = 'waiting'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state IN ('scheduled', 'running'))
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* scansq.Redrive */ scans
SET    state = 'waiting'
WHERE  id IN (
           SELECT id
           FROM   scans
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'success' would find them
-- arguments: 1: limit
DELETE /* scansq.Purge */ FROM scans
WHERE  id IN (
           SELECT id
           FROM   scans
           WHERE  state = 'success'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* scansq.Purge */ FROM scans
WHERE  id IN (
           SELECT id
           FROM   scans
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in tracker, of those that are ready or claimed or running: then it adds none
-- locks: the database for writing, while the statement runs
-- index: (tracker) WHERE state IN ('waiting', 'scheduled', 'running')
-- arguments: 1: new Tracker
INSERT /* scansq.Enqueue */ INTO scans
       (tracker, state)
SELECT ?1, 'waiting'
WHERE  NOT EXISTS (
           SELECT 1
           FROM   scans
           WHERE  tracker IS ?1
           AND    state IN ('waiting', 'scheduled', 'running'))
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* scansq.Stats */
       count(*) FILTER (WHERE state = 'waiting') AS ready,
       count(*) FILTER (WHERE state = 'scheduled') AS claimed,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'success') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed
FROM   scans;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'waiting'
SELECT /* scansq.Backlog */
       count(*) AS ready
FROM   scans
WHERE  state = 'waiting';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'waiting'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* scansq.Peek */
       id, tracker
FROM   scans
WHERE  state = 'waiting'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* scansq.Verify */
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
WITH /* scansq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('tracker', 'varchar(20)'),
           ('state', 'varchar(10)')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('scans') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* scansq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('scans_ready', 'id', 'id', 'state=''waiting'''),
           ('scans_like', 'tracker', 'tracker', 'statein''waiting'',''scheduled'',''running''')
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
    FROM   pragma_index_list('scans') AS l
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
CREATE INDEX scans_ready ON scans (id)
WHERE  state = 'waiting';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Enqueue: the rows that are like a new job
CREATE INDEX scans_like ON scans (tracker)
WHERE  state IN ('waiting', 'scheduled', 'running');
