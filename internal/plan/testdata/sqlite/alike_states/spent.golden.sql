-- Package spentq uses the table spent as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates spent_ready and spent_like.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=absent leaves a job out where a row is like it in hash, of those that are ready or running; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new' AND tries < 5; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* spentq.Claim */ spent
SET    state = 'busy',
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries < 5
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, hash, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new' AND tries < 5; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* spentq.Claim */ spent
SET    state = 'busy',
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries < 5
           ORDER  BY id
           LIMIT  1)
RETURNING id, hash, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Complete */ spent
SET    state = 'done'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Fail */ spent
SET    state = 'new'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Fail */ spent
SET    state = 'new'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* spentq.Requeue */ spent
SET    state = 'new',
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* spentq.Redrive */ spent
SET    tries = 0
WHERE  id IN (
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries >= 5
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- arguments: 1: limit
DELETE /* spentq.Purge */ FROM spent
WHERE  id IN (
           SELECT id
           FROM   spent
           WHERE  state = 'done'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'new' AND tries >= 5 would find them
-- arguments: 1: limit
DELETE /* spentq.Purge */ FROM spent
WHERE  id IN (
           SELECT id
           FROM   spent
           WHERE  state = 'new'
           AND    tries >= 5
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in hash, of those that are ready or running: then it adds none
-- locks: the database for writing, while the statement runs
-- index: (hash) WHERE state IN ('new', 'busy')
-- arguments: 1: new Hash
INSERT /* spentq.Enqueue */ INTO spent
       (hash, state, tries)
SELECT ?1, 'new', 0
WHERE  NOT EXISTS (
           SELECT 1
           FROM   spent
           WHERE  hash = ?1
           AND    state IN ('new', 'busy')
           AND    (tries < 5 OR state = 'busy'))
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* spentq.Stats */
       count(*) FILTER (WHERE state = 'new' AND tries < 5) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'new' AND tries >= 5) AS failed
FROM   spent;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new' AND tries < 5
SELECT /* spentq.Backlog */
       count(*) AS ready
FROM   spent
WHERE  state = 'new'
AND    tries < 5;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new' AND tries < 5; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* spentq.Peek */
       id, hash, tries
FROM   spent
WHERE  state = 'new'
AND    tries < 5
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* spentq.Verify */
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
WITH /* spentq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('hash', 'varchar(40)'),
           ('state', 'varchar(10)'),
           ('tries', 'int')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('spent') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* spentq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('spent_ready', 'id', 'id', 'state=''new''andtries<5'),
           ('spent_like', 'hash', 'hash', 'statein''new'',''busy''')
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
    FROM   pragma_index_list('spent') AS l
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
CREATE INDEX spent_ready ON spent (id)
WHERE  state = 'new'
AND    tries < 5;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Enqueue: the rows that are like a new job
CREATE INDEX spent_like ON spent (hash)
WHERE  state IN ('new', 'busy');
