-- Package pairsq uses the table pairs as a queue of jobs on SQLite 3.38 and later.
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
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pairs_ready and pairs_like.
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
-- note: enqueue=absent leaves a job out where a row is like it in hash, of those that are running or done; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE taken = 0 AND ended = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* pairsq.Claim */ pairs
SET    taken = 1
WHERE  id IN (
           SELECT id
           FROM   pairs
           WHERE  taken = 0
           AND    ended = 0
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, hash;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE taken = 0 AND ended = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* pairsq.Claim */ pairs
SET    taken = 1
WHERE  id = (
           SELECT id
           FROM   pairs
           WHERE  taken = 0
           AND    ended = 0
           ORDER  BY id
           LIMIT  1)
RETURNING id, hash;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* pairsq.Complete */ pairs
SET    taken = 0,
       ended = 1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(taken = 1
      AND    ended = 0)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* pairsq.Fail */ pairs
SET    taken = 0,
       ended = 2
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(taken = 1
      AND    ended = 0)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* pairsq.Requeue */ pairs
SET    taken = 0
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(taken = 1
      AND    ended = 0)
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* pairsq.Redrive */ pairs
SET    ended = 0
WHERE  id IN (
           SELECT id
           FROM   pairs
           WHERE  taken = 0
           AND    ended = 2
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE taken = 0 AND ended = 1 would find them
-- arguments: 1: limit
DELETE /* pairsq.Purge */ FROM pairs
WHERE  id IN (
           SELECT id
           FROM   pairs
           WHERE  taken = 0
           AND    ended = 1
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE taken = 0 AND ended = 2 would find them
-- arguments: 1: limit
DELETE /* pairsq.Purge */ FROM pairs
WHERE  id IN (
           SELECT id
           FROM   pairs
           WHERE  taken = 0
           AND    ended = 2
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in hash, of those that are running or done: then it adds none
-- locks: the database for writing, while the statement runs
-- index: (hash)
-- arguments: 1: new Hash
INSERT /* pairsq.Enqueue */ INTO pairs
       (hash, taken, ended)
SELECT ?1, 0, 0
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pairs
           WHERE  hash = ?1
           AND    (taken = 1 AND ended = 0 OR taken = 0 AND ended = 1))
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pairsq.Stats */
       count(*) FILTER (WHERE taken = 0 AND ended = 0) AS ready,
       count(*) FILTER (WHERE taken = 1 AND ended = 0) AS running,
       count(*) FILTER (WHERE taken = 0 AND ended = 1) AS done,
       count(*) FILTER (WHERE taken = 0 AND ended = 2) AS failed
FROM   pairs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE taken = 0 AND ended = 0
SELECT /* pairsq.Backlog */
       count(*) AS ready
FROM   pairs
WHERE  taken = 0
AND    ended = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE taken = 0 AND ended = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* pairsq.Peek */
       id, hash
FROM   pairs
WHERE  taken = 0
AND    ended = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pairsq.Verify */
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
WITH /* pairsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('hash', 'varchar(40)'),
           ('taken', 'int'),
           ('ended', 'int')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('pairs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* pairsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('pairs_ready', 'id', 'id', 'taken=0andended=0'),
           ('pairs_like', 'hash', 'hash', '')
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
    FROM   pragma_index_list('pairs') AS l
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
CREATE INDEX pairs_ready ON pairs (id)
WHERE  taken = 0
AND    ended = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Enqueue: the rows that are like a new job
CREATE INDEX pairs_like ON pairs (hash);
