-- Package pullsq uses the table pulls as a queue of jobs on SQLite 3.38 and later.
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
-- Of the jobs that are alike in repo, one runs at once; one claim writes at a time and counts what is running.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pulls_ready and pulls_group.
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
--   guarded      the running rows of a group are counted by the statement that takes the rows
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (repo, weight DESC, id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param repo string
UPDATE /* pullsq.Claim */ pulls
SET    state = 'busy'
WHERE  id = (
           SELECT id
           FROM   pulls
           WHERE  state = 'new'
           AND    repo = ?1
           AND    NOT EXISTS (SELECT 1
               FROM   pulls AS other
               WHERE  other.repo = ?1
               AND    likelihood(other.state = 'busy', 0.99))
           ORDER  BY weight DESC, id
           LIMIT  1)
RETURNING id, repo, weight;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* pullsq.Complete */ pulls
SET    state = 'over'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* pullsq.Fail */ pulls
SET    state = 'dead'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* pullsq.Requeue */ pulls
SET    state = 'new'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* pullsq.Redrive */ pulls
SET    state = 'new'
WHERE  id IN (
           SELECT id
           FROM   pulls
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- arguments: 1: limit
DELETE /* pullsq.Purge */ FROM pulls
WHERE  id IN (
           SELECT id
           FROM   pulls
           WHERE  state = 'over'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- arguments: 1: limit
DELETE /* pullsq.Purge */ FROM pulls
WHERE  id IN (
           SELECT id
           FROM   pulls
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Repo, 2: new Weight
INSERT /* pullsq.Enqueue */ INTO pulls
       (repo, weight)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Repo Weight
INSERT /* pullsq.EnqueueMany */ INTO pulls
       (repo, weight)
SELECT repo_new, weight_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS repo_new,
                  json_extract(value, '$[1]') AS weight_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pullsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed
FROM   pulls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same repo is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param repo string
SELECT /* pullsq.StatsOf */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed
FROM   pulls
WHERE  repo = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by repo
-- locks: none
-- index: (repo, weight DESC, id) WHERE state = 'new'
SELECT /* pullsq.Backlog */
       repo,
       count(*) AS ready
FROM   pulls
WHERE  state = 'new'
GROUP  BY repo
ORDER  BY repo;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (repo, weight DESC, id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param repo string
SELECT /* pullsq.Peek */
       id, repo, weight
FROM   pulls
WHERE  state = 'new'
AND    repo = ?1
AND    NOT EXISTS (SELECT 1
               FROM   pulls AS other
               WHERE  other.repo = ?1
               AND    likelihood(other.state = 'busy', 0.99))
ORDER  BY weight DESC, id
LIMIT  1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pullsq.Verify */
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
WITH /* pullsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('repo', 'TEXT'),
           ('weight', 'INTEGER'),
           ('state', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('pulls') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* pullsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('pulls_ready', 'repo, weight desc, id', 'repo, weight desc', 'state=''new'''),
           ('pulls_group', 'repo', 'repo', 'state=''busy''')
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
    FROM   pragma_index_list('pulls') AS l
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
CREATE INDEX pulls_ready ON pulls (repo, weight DESC, id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Claim: the running rows of a group
CREATE INDEX pulls_group ON pulls (repo)
WHERE  state = 'busy';
