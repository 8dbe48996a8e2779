-- Package bitsq uses the table bits as a queue of jobs on SQLite 3.38 and later.
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
-- note: a new job gives column "flags" itself, since {row}.flags & ~2 is over a row that is there
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* bitsq.Claim */ bits
SET    flags = (bits.flags | 2)
WHERE  id IN (
           SELECT id
           FROM   bits
           WHERE  (bits.flags & 3 = 1)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
UPDATE /* bitsq.Claim */ bits
SET    flags = (bits.flags | 2)
WHERE  id = (
           SELECT id
           FROM   bits
           WHERE  (bits.flags & 3 = 1)
           ORDER  BY id
           LIMIT  1)
RETURNING id, body;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* bitsq.Complete */ bits
SET    flags = 4
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((bits.flags & 2 = 2))
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* bitsq.Fail */ bits
SET    flags = 8
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((bits.flags & 2 = 2))
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* bitsq.Requeue */ bits
SET    flags = (bits.flags & ~2)
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((bits.flags & 2 = 2))
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* bitsq.Redrive */ bits
SET    flags = (bits.flags & ~2)
WHERE  id IN (
           SELECT id
           FROM   bits
           WHERE  flags = 8
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE flags = 4 would find them
-- arguments: 1: limit
DELETE /* bitsq.Purge */ FROM bits
WHERE  id IN (
           SELECT id
           FROM   bits
           WHERE  flags = 4
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE flags = 8 would find them
-- arguments: 1: limit
DELETE /* bitsq.Purge */ FROM bits
WHERE  id IN (
           SELECT id
           FROM   bits
           WHERE  flags = 8
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Flags, 2: new Body
INSERT /* bitsq.Enqueue */ INTO bits
       (flags, body)
VALUES (coalesce(?1, 1), ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Flags Body
INSERT /* bitsq.EnqueueMany */ INTO bits
       (flags, body)
SELECT coalesce(flags_new, 1), body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS flags_new,
                  json_extract(value, '$[1]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* bitsq.Stats */
       count(*) FILTER (WHERE (bits.flags & 3 = 1)) AS ready,
       count(*) FILTER (WHERE (bits.flags & 2 = 2)) AS running,
       count(*) FILTER (WHERE flags = 4) AS done,
       count(*) FILTER (WHERE flags = 8) AS failed
FROM   bits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* bitsq.Backlog */
       count(*) AS ready
FROM   bits
WHERE  (bits.flags & 3 = 1);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* bitsq.Peek */
       id, body
FROM   bits
WHERE  (bits.flags & 3 = 1)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* bitsq.Verify */
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
WITH /* bitsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('flags', 'INTEGER'),
           ('body', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('bits') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
