-- Package localq uses the table calls as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_utc_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: there is no Enqueue: column "opens" is ignored, and a new row needs a value in it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit
UPDATE /* localq.Claim */ calls
SET    state = 'R'
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  state = 'N'
           AND    (opens <= time('now', 'localtime') AND time('now', 'localtime') < closes AND day = date('now', 'localtime') AND made < unixepoch() - 60)
           AND    ((made < ?1 OR made > ?2 - 60))
           ORDER  BY id
           LIMIT  ?3)
RETURNING id, number, made;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param since time.Time, 2: param from *time.Time
UPDATE /* localq.Claim */ calls
SET    state = 'R'
WHERE  id = (
           SELECT id
           FROM   calls
           WHERE  state = 'N'
           AND    (opens <= time('now', 'localtime') AND time('now', 'localtime') < closes AND day = date('now', 'localtime') AND made < unixepoch() - 60)
           AND    ((made < ?1 OR made > ?2 - 60))
           ORDER  BY id
           LIMIT  1)
RETURNING id, number, made;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* localq.Complete */ calls
SET    state = 'D',
       heard = strftime('%Y-%m-%d %H:%M:%S', 'now', 'localtime')
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'R')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* localq.Fail */ calls
SET    state = 'N'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'R')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* localq.Requeue */ calls
SET    state = 'N'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'R')
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (heard) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* localq.Purge */ FROM calls
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  state = 'D'
           AND    heard <= strftime('%Y-%m-%d %H:%M:%S', 'now', 'localtime', printf('%+.3f seconds', -(?1)))
           LIMIT  ?2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* localq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (opens <= time('now', 'localtime') AND time('now', 'localtime') < closes AND day = date('now', 'localtime') AND made < unixepoch() - 60)) AS ready,
       count(*) FILTER (WHERE state = 'R') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       (unixepoch() - min(made) FILTER (WHERE state = 'N' AND (opens <= time('now', 'localtime') AND time('now', 'localtime') < closes AND day = date('now', 'localtime') AND made < unixepoch() - 60))) AS oldest_ready
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N'; it reads others as well
SELECT /* localq.Backlog */
       count(*) AS ready,
       (unixepoch() - min(made)) AS oldest_ready
FROM   calls
WHERE  state = 'N'
AND    (opens <= time('now', 'localtime') AND time('now', 'localtime') < closes AND day = date('now', 'localtime') AND made < unixepoch() - 60);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit
SELECT /* localq.Peek */
       id, number, made
FROM   calls
WHERE  state = 'N'
AND    (opens <= time('now', 'localtime') AND time('now', 'localtime') < closes AND day = date('now', 'localtime') AND made < unixepoch() - 60)
AND    ((made < ?1 OR made > ?2 - 60))
ORDER  BY id
LIMIT  ?3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* localq.Verify */
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
WITH /* localq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('number', 'TEXT'),
           ('state', 'TEXT'),
           ('heard', 'TEXT'),
           ('made', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('calls') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock Heard
SELECT /* localq.Verify */
       'the clock of the database reads ' || strftime('%Y-%m-%d %H:%M:%S', 'now', 'localtime') || ', and that of the program does not'
WHERE  ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now', 'localtime')) - julianday(?1)) * 86400.0) NOT BETWEEN -600 AND 600;

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* localq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('calls_utc_ready', 'id', 'id', 'state=''n''')
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
    FROM   pragma_index_list('calls') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
-- utcq advises the same
CREATE INDEX calls_utc_ready ON calls (id)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
