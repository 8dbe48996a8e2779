-- Package countedq uses the table counted as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates counted_ready.
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
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'r' AND tries < 3; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Consumer, 2: limit
UPDATE /* countedq.Claim */ counted
SET    state = 'x',
       consumer = ?1,
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   counted
           WHERE  state = 'r'
           AND    tries < 3
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, consumer, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'r' AND tries < 3; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Consumer
UPDATE /* countedq.Claim */ counted
SET    state = 'x',
       consumer = ?1,
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   counted
           WHERE  state = 'r'
           AND    tries < 3
           ORDER  BY id
           LIMIT  1)
RETURNING id, consumer, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, consumer as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Consumer
DELETE /* countedq.Complete */ FROM counted
WHERE  (id, tries, consumer) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS consumer_held
           FROM   json_each(?1))
AND    +(state = 'x')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, consumer as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Consumer
UPDATE /* countedq.Fail */ counted
SET    state = 'r',
       consumer = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS consumer_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    consumer = consumer_held
      AND    state = 'x')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, consumer as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Consumer
UPDATE /* countedq.Fail */ counted
SET    state = 'r',
       consumer = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS consumer_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    consumer = consumer_held
      AND    state = 'x')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, consumer as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Consumer
UPDATE /* countedq.Requeue */ counted
SET    state = 'r',
       consumer = NULL,
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS consumer_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    consumer = consumer_held
      AND    state = 'x')
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* countedq.Redrive */ counted
SET    consumer = NULL,
       tries = 0
WHERE  id IN (
           SELECT id
           FROM   counted
           WHERE  state = 'r'
           AND    tries >= 3
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'r' AND tries >= 3 would find them
-- arguments: 1: limit
DELETE /* countedq.Purge */ FROM counted
WHERE  id IN (
           SELECT id
           FROM   counted
           WHERE  state = 'r'
           AND    tries >= 3
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* countedq.Enqueue */ INTO counted
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* countedq.Stats */
       count(*) FILTER (WHERE state = 'r' AND tries < 3) AS ready,
       count(*) FILTER (WHERE state = 'x') AS running,
       count(*) FILTER (WHERE state = 'r' AND tries >= 3) AS failed
FROM   counted;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'r' AND tries < 3
SELECT /* countedq.Backlog */
       count(*) AS ready
FROM   counted
WHERE  state = 'r'
AND    tries < 3;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'r' AND tries < 3; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* countedq.Peek */
       id, tries
FROM   counted
WHERE  state = 'r'
AND    tries < 3
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* countedq.Verify */
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
WITH /* countedq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('state', 'text'),
           ('consumer', 'numeric'),
           ('tries', 'int')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('counted') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* countedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('counted_ready', 'id', 'id', 'state=''r''andtries<3')
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
    FROM   pragma_index_list('counted') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX counted_ready ON counted (id)
WHERE  state = 'r'
AND    tries < 3;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
