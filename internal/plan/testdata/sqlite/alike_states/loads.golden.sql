-- Package loadsq uses the table loads as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates loads_ready and loads_like.
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
-- note: column "till" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=absent leaves a job out where a row is like it in hash, of those that are ready or running; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state IN ('new', 'busy'); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* loadsq.Claim */ loads
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   loads
           WHERE  state IN ('new', 'busy')
           AND    (till <= unixepoch() OR state = 'new')
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, hash, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state IN ('new', 'busy'); until the schema that qgen reads has it, the server may take another and sort
UPDATE /* loadsq.Claim */ loads
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   loads
           WHERE  state IN ('new', 'busy')
           AND    (till <= unixepoch() OR state = 'new')
           ORDER  BY id
           LIMIT  1)
RETURNING id, hash, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* loadsq.Complete */ loads
SET    state = 'done',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* loadsq.Fail */ loads
SET    state = 'new',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* loadsq.Requeue */ loads
SET    state = 'new',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* loadsq.Extend */ loads
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id, till;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- arguments: 1: limit
DELETE /* loadsq.Purge */ FROM loads
WHERE  id IN (
           SELECT id
           FROM   loads
           WHERE  state = 'done'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in hash, of those that are ready or running: then it adds none
-- locks: the database for writing, while the statement runs
-- index: (hash) WHERE state IN ('new', 'busy')
-- arguments: 1: new Hash
INSERT /* loadsq.Enqueue */ INTO loads
       (hash, state)
SELECT ?1, 'new'
WHERE  NOT EXISTS (
           SELECT 1
           FROM   loads
           WHERE  hash = ?1
           AND    state IN ('new', 'busy')
           AND    (till IS NOT NULL OR state = 'new'))
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* loadsq.Stats */
       count(*) FILTER (WHERE state IN ('new', 'busy') AND (till <= unixepoch() OR state = 'new')) AS ready,
       count(*) FILTER (WHERE state = 'busy' AND till > unixepoch()) AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'busy' AND till <= unixepoch()) AS expired
FROM   loads;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state IN ('new', 'busy'); it reads others as well
SELECT /* loadsq.Backlog */
       count(*) AS ready
FROM   loads
WHERE  state IN ('new', 'busy')
AND    (till <= unixepoch() OR state = 'new');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state IN ('new', 'busy'); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* loadsq.Peek */
       id, hash
FROM   loads
WHERE  state IN ('new', 'busy')
AND    (till <= unixepoch() OR state = 'new')
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* loadsq.Verify */
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
WITH /* loadsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('hash', 'varchar(40)'),
           ('state', 'varchar(10)'),
           ('till', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('loads') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* loadsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('loads_ready', 'id', 'id', 'statein''new'',''busy'''),
           ('loads_like', 'hash', 'hash', 'statein''new'',''busy''')
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
    FROM   pragma_index_list('loads') AS l
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
CREATE INDEX loads_ready ON loads (id)
WHERE  state IN ('new', 'busy');
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Enqueue: the rows that are like a new job
CREATE INDEX loads_like ON loads (hash)
WHERE  state IN ('new', 'busy');
