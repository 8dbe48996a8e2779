-- Package linesq uses the table lines as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. VACUUM numbers the rows of a table without INTEGER PRIMARY KEY anew, by which they are named: who holds jobs then gets ErrLost for them, and no other row is taken for theirs.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates lines_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        rows have no key, so that each has a token of its own, which cannot be the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      rows have no key by which a candidate could be taken
--   pop          a taken row is gone, so it must be asked for
-- note: there is no primary key and no unique key without nulls, so a row is named by its physical place, which is good inside one transaction only
-- note: times of column "at" are text as "2006-01-02 15:04:05" in UTC, which is what its default writes
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows that are equal in at are taken in any order: the table has no key
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: VACUUM numbers the rows of a table without INTEGER PRIMARY KEY anew, by which they are named: every claim leaves a fresh value in each row, and who holds jobs then gets ErrLost for them

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (at, due) WHERE state IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* linesq.Claim */ lines
SET    state = 0,
       holder = lower(hex(randomblob(16)))
WHERE  rowid IN (
           SELECT rowid
           FROM   lines
           WHERE  state IS NULL
           AND    (due <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR due IS NULL)
           ORDER  BY at
           LIMIT  ?1)
RETURNING rowid, at, due, holder, line;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (at, due) WHERE state IS NULL; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* linesq.Claim */ lines
SET    state = 0,
       holder = lower(hex(randomblob(16)))
WHERE  rowid = (
           SELECT rowid
           FROM   lines
           WHERE  state IS NULL
           AND    (due <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR due IS NULL)
           ORDER  BY at
           LIMIT  1)
RETURNING rowid, at, due, holder, line;

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all RowID Holder
UPDATE /* linesq.Complete */ lines
SET    state = 1
FROM   (
           SELECT json_extract(value, '$[0]') AS rowid_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  lines.rowid = rowid_held
AND    +(holder = holder_held
      AND    state = 0)
RETURNING rowid;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all RowID Holder
UPDATE /* linesq.Fail */ lines
SET    due = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(?1))),
       state = NULL,
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS rowid_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?2)
       ) AS job
WHERE  lines.rowid = rowid_held
AND    +(holder = holder_held
      AND    state = 0)
RETURNING rowid;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all RowID Holder
UPDATE /* linesq.Requeue */ lines
SET    due = CASE WHEN ?1 > 0.0 THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+.3f seconds', +(?1))) ELSE due END,
       state = NULL,
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS rowid_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?2)
       ) AS job
WHERE  lines.rowid = rowid_held
AND    +(holder = holder_held
      AND    state = 0)
RETURNING rowid;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (at) WHERE state = 1 would find them
-- arguments: 1: older, 2: limit
DELETE /* linesq.Purge */ FROM lines
WHERE  rowid IN (
           SELECT rowid
           FROM   lines
           WHERE  state = 1
           AND    at <= strftime('%Y-%m-%d %H:%M:%S', 'now', printf('%+.3f seconds', -(?1)))
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Due, 2: new Line
INSERT /* linesq.Enqueue */ INTO lines
       (at, due, line)
VALUES (strftime('%Y-%m-%d %H:%M:%S', 'now'), ?1, ?2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* linesq.Stats */
       count(*) FILTER (WHERE state IS NULL AND (due <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 0) AS running,
       count(*) FILTER (WHERE state = 1) AS done,
       count(*) FILTER (WHERE state IS NULL AND due > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS delayed,
       ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now')) - julianday(min(at) FILTER (WHERE state IS NULL AND (due <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR due IS NULL)))) * 86400.0) AS oldest_ready
FROM   lines;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (at, due) WHERE state IS NULL
SELECT /* linesq.Backlog */
       count(*) FILTER (WHERE (due <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE due > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS delayed,
       ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now')) - julianday(min(at) FILTER (WHERE (due <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR due IS NULL)))) * 86400.0) AS oldest_ready
FROM   lines
WHERE  state IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at, due) WHERE state IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* linesq.Peek */
       rowid, at, due, line
FROM   lines
WHERE  state IS NULL
AND    (due <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') OR due IS NULL)
ORDER  BY at
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* linesq.Verify */
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
WITH /* linesq.Verify */ want (name, type) AS (
    VALUES ('at', 'TEXT'),
           ('due', 'DATETIME'),
           ('state', 'BOOLEAN'),
           ('holder', 'TEXT'),
           ('line', 'BLOB')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('lines') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* linesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('lines_ready', 'at', 'at', 'stateisnull')
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
    FROM   pragma_index_list('lines') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX lines_ready ON lines (at, due)
WHERE  state IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
