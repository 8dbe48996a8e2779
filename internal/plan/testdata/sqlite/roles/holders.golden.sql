-- Package holdersq uses the table holders as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates holders_ready.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "holder" does: a row is ready only while holder = '', and not where something else has left a value there
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE done = 0 AND holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder, 2: limit
UPDATE /* holdersq.Claim */ holders
SET    holder = ?1
WHERE  id IN (
           SELECT id
           FROM   holders
           WHERE  done = 0
           AND    holder = ''
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, holder;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE done = 0 AND holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder
UPDATE /* holdersq.Claim */ holders
SET    holder = ?1
WHERE  id = (
           SELECT id
           FROM   holders
           WHERE  done = 0
           AND    holder = ''
           ORDER  BY id
           LIMIT  1)
RETURNING id, holder;

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
UPDATE /* holdersq.Complete */ holders
SET    done = 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    done = 0
      AND    holder <> '')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
UPDATE /* holdersq.Fail */ holders
SET    holder = ''
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    done = 0
      AND    holder <> '')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
UPDATE /* holdersq.Requeue */ holders
SET    holder = ''
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    done = 0
      AND    holder <> '')
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE done = 1 would find them
-- arguments: 1: limit
DELETE /* holdersq.Purge */ FROM holders
WHERE  id IN (
           SELECT id
           FROM   holders
           WHERE  done = 1
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* holdersq.Enqueue */ INTO holders
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* holdersq.Stats */
       count(*) FILTER (WHERE done = 0 AND holder = '') AS ready,
       count(*) FILTER (WHERE done = 0 AND holder <> '') AS running,
       count(*) FILTER (WHERE done = 1) AS done
FROM   holders;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE done = 0 AND holder = ''
SELECT /* holdersq.Backlog */
       count(*) AS ready
FROM   holders
WHERE  done = 0
AND    holder = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE done = 0 AND holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* holdersq.Peek */
       id, holder
FROM   holders
WHERE  done = 0
AND    holder = ''
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* holdersq.Verify */
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
WITH /* holdersq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('holder', 'TEXT'),
           ('done', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('holders') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* holdersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('holders_ready', 'id', 'id', 'done=0andholder=''''')
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
    FROM   pragma_index_list('holders') AS l
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
CREATE INDEX holders_ready ON holders (id)
WHERE  done = 0
AND    holder = '';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
