-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. VACUUM numbers the rows of a table without INTEGER PRIMARY KEY anew, by which they are named: who holds jobs then gets ErrLost for them, and no other row is taken for theirs.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows that are equal in body are taken in any order: the table has no key
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: VACUUM numbers the rows of a table without INTEGER PRIMARY KEY anew, by which they are named: every claim leaves a fresh value in each row, and who holds jobs then gets ErrLost for them

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (body); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* mailsq.Claim */ mails
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 120 * 1000 AS INTEGER),
       hold = lower(hex(randomblob(16)))
WHERE  rowid IN (
           SELECT rowid
           FROM   mails
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till = 0)
           ORDER  BY body
           LIMIT  ?1)
RETURNING rowid, body, till, hold;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (body); until the schema that qgen reads has it, the server may take another and sort
UPDATE /* mailsq.Claim */ mails
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 120 * 1000 AS INTEGER),
       hold = lower(hex(randomblob(16)))
WHERE  rowid = (
           SELECT rowid
           FROM   mails
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till = 0)
           ORDER  BY body
           LIMIT  1)
RETURNING rowid, body, till, hold;

-- sql/complete.sql
-- complete: running to done
-- fence: hold as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all RowID Hold
DELETE /* mailsq.Complete */ FROM mails
WHERE  (mails.rowid, hold) IN (
           SELECT json_extract(value, '$[0]') AS rowid_held,
                  json_extract(value, '$[1]') AS hold_held
           FROM   json_each(?1))
AND    +(till <> 0)
RETURNING rowid;

-- sql/retry.sql
-- retry: running to ready
-- fence: hold as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all RowID Hold
UPDATE /* mailsq.Fail */ mails
SET    till = 0,
       hold = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS rowid_held,
                  json_extract(value, '$[1]') AS hold_held
           FROM   json_each(?1)
       ) AS job
WHERE  mails.rowid = rowid_held
AND    +(hold = hold_held
      AND    till <> 0)
RETURNING rowid;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: hold as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all RowID Hold
UPDATE /* mailsq.Requeue */ mails
SET    till = 0,
       hold = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS rowid_held,
                  json_extract(value, '$[1]') AS hold_held
           FROM   json_each(?1)
       ) AS job
WHERE  mails.rowid = rowid_held
AND    +(hold = hold_held
      AND    till <> 0)
RETURNING rowid;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: hold as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all RowID Hold
UPDATE /* mailsq.Extend */ mails
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 120 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS rowid_held,
                  json_extract(value, '$[1]') AS hold_held
           FROM   json_each(?1)
       ) AS job
WHERE  mails.rowid = rowid_held
AND    +(hold = hold_held
      AND    till <> 0)
RETURNING rowid, till;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Body
INSERT /* mailsq.Enqueue */ INTO mails
       (body)
VALUES (?1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Body
INSERT /* mailsq.EnqueueMany */ INTO mails
       (body)
SELECT body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till = 0)) AS ready,
       count(*) FILTER (WHERE till <> 0 AND till > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE till <> 0 AND till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (body); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       rowid, body, till
FROM   mails
WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till = 0)
ORDER  BY body
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('body', 'TEXT'),
           ('till', 'INTEGER'),
           ('hold', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* mailsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('mails_ready', 'body', 'body', '')
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
    FROM   pragma_index_list('mails') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX mails_ready ON mails (body);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
