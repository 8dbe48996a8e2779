-- Package visitsq uses the table visits as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready or not by what it writes to due
-- 	running  --Requeue---------> ready or not by what it writes to made
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates visits_ready.
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
-- note: on retry, column "due" gets [coalesce(due, {now} + 1000)] as qgen:on says, not now + {delay} as qgen:due would
-- note: whether Fail puts the job back is up to what it leaves in column "due", which a condition on ready rows reads, and not known here
-- note: rows are taken as they came, by column "id"; order 1 at column "due" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: there is no Enqueue: column "day" is ignored, and a new row needs a value in it

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, due) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* visitsq.Claim */ visits
SET    state = 'R',
       heard = (datetime('now', '+1 day'))
WHERE  id IN (
           SELECT id
           FROM   visits
           WHERE  state = 'N'
           AND    (due <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR due IS NULL)
           AND    (made < strftime('%s', 'now', '-60 seconds') AND day = date('now') AND datetime(unixepoch() - 60, 'unixepoch') > day)
           AND    (julianday('now') - julianday(day) < 1 AND due < coalesce(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0))
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, due, made;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, due) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* visitsq.Claim */ visits
SET    state = 'R',
       heard = (datetime('now', '+1 day'))
WHERE  id = (
           SELECT id
           FROM   visits
           WHERE  state = 'N'
           AND    (due <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR due IS NULL)
           AND    (made < strftime('%s', 'now', '-60 seconds') AND day = date('now') AND datetime(unixepoch() - 60, 'unixepoch') > day)
           AND    (julianday('now') - julianday(day) < 1 AND due < coalesce(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0))
           ORDER  BY id
           LIMIT  1)
RETURNING id, due, made;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* visitsq.Complete */ visits
SET    state = 'D',
       heard = strftime('%Y-%m-%d %H:%M:%S', 'now')
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'R')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready or not
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* visitsq.Fail */ visits
SET    state = 'N',
       due = (coalesce(due, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + 1000))
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'R')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready or not, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID
UPDATE /* visitsq.Requeue */ visits
SET    state = 'N',
       due = CASE WHEN ?1 > 0.0 THEN CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER) ELSE due END,
       made = (strftime('%s', 'now'))
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(state = 'R')
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (heard) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* visitsq.Purge */ FROM visits
WHERE  id IN (
           SELECT id
           FROM   visits
           WHERE  state = 'D'
           AND    heard <= strftime('%Y-%m-%d %H:%M:%S', 'now', printf('%+.3f seconds', -(?1)))
           LIMIT  ?2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* visitsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (due <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR due IS NULL) AND (made < strftime('%s', 'now', '-60 seconds') AND day = date('now') AND datetime(unixepoch() - 60, 'unixepoch') > day) AND (julianday('now') - julianday(day) < 1 AND due < coalesce(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0))) AS ready,
       count(*) FILTER (WHERE state = 'R') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'N' AND due > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       (unixepoch() - min(made) FILTER (WHERE state = 'N' AND (due <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR due IS NULL) AND (made < strftime('%s', 'now', '-60 seconds') AND day = date('now') AND datetime(unixepoch() - 60, 'unixepoch') > day) AND (julianday('now') - julianday(day) < 1 AND due < coalesce(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0)))) AS oldest_ready
FROM   visits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, due) WHERE state = 'N'
SELECT /* visitsq.Backlog */
       count(*) FILTER (WHERE (due <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR due IS NULL) AND (made < strftime('%s', 'now', '-60 seconds') AND day = date('now') AND datetime(unixepoch() - 60, 'unixepoch') > day) AND (julianday('now') - julianday(day) < 1 AND due < coalesce(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0))) AS ready,
       count(*) FILTER (WHERE due > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       (unixepoch() - min(made) FILTER (WHERE (due <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR due IS NULL) AND (made < strftime('%s', 'now', '-60 seconds') AND day = date('now') AND datetime(unixepoch() - 60, 'unixepoch') > day) AND (julianday('now') - julianday(day) < 1 AND due < coalesce(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0)))) AS oldest_ready
FROM   visits
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, due) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* visitsq.Peek */
       id, due, made
FROM   visits
WHERE  state = 'N'
AND    (due <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR due IS NULL)
AND    (made < strftime('%s', 'now', '-60 seconds') AND day = date('now') AND datetime(unixepoch() - 60, 'unixepoch') > day)
AND    (julianday('now') - julianday(day) < 1 AND due < coalesce(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0))
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* visitsq.Verify */
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
WITH /* visitsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('due', 'INTEGER'),
           ('heard', 'TEXT'),
           ('made', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('visits') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* visitsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('visits_ready', 'id', 'id', 'state=''n''')
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
    FROM   pragma_index_list('visits') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over; rows that wait for their time are passed over in it
CREATE INDEX visits_ready ON visits (id, due)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
