-- Package smsq uses the table sms as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready or not by what it writes to tries
-- 	running  --Requeue---------> ready or not by tries, which stays as it is
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running. Nothing surely keeps a row that runs from being ready as well: a claim takes such a job again, whether its worker has died or not.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates sms_ready.
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
-- note: whether Fail puts the job back is up to what it leaves in column "tries", which a condition on ready rows reads, and not known here
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a row with sent is null and tries <= 9 and tries > 0 is ready and runs at once, and nothing that a claim writes is known to end that: as long as it is so, another claim takes a job that a worker has; qgen:lease, qgen:claimed timeout=…, or a value that tells such rows apart, would keep it away

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE sent IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* smsq.Claim */ sms
SET    sent = NULL,
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   sms
           WHERE  sent IS NULL
           AND    (tries <= 9)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE sent IS NULL; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* smsq.Claim */ sms
SET    sent = NULL,
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   sms
           WHERE  sent IS NULL
           AND    (tries <= 9)
           ORDER  BY id
           LIMIT  1)
RETURNING id;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* smsq.Complete */ sms
SET    sent = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(sent IS NULL
      AND    (tries > 0))
RETURNING id;

-- sql/retry.sql
-- retry: running to ready or not
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* smsq.Fail */ sms
SET    sent = NULL,
       tries = tries + 1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(sent IS NULL
      AND    (tries > 0))
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready or not, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* smsq.Requeue */ sms
SET    sent = NULL
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(sent IS NULL
      AND    (tries > 0))
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (sent) WHERE sent IS NOT NULL would find them
-- arguments: 1: older, 2: limit
DELETE /* smsq.Purge */ FROM sms
WHERE  id IN (
           SELECT id
           FROM   sms
           WHERE  sent IS NOT NULL
           AND    sent <= strftime('%Y-%m-%dT%H:%M:%SZ', 'now', printf('%+.3f seconds', -(?1)))
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* smsq.Enqueue */ INTO sms
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* smsq.Stats */
       count(*) FILTER (WHERE sent IS NULL AND (tries <= 9)) AS ready,
       count(*) FILTER (WHERE sent IS NULL AND (tries > 0)) AS running,
       count(*) FILTER (WHERE sent IS NOT NULL) AS done
FROM   sms;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE sent IS NULL; it reads others as well
SELECT /* smsq.Backlog */
       count(*) AS ready
FROM   sms
WHERE  sent IS NULL
AND    (tries <= 9);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE sent IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* smsq.Peek */
       id
FROM   sms
WHERE  sent IS NULL
AND    (tries <= 9)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* smsq.Verify */
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
WITH /* smsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('sent', 'TEXT'),
           ('tries', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('sms') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* smsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('sms_ready', 'id', 'id', 'sentisnull')
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
    FROM   pragma_index_list('sms') AS l
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
CREATE INDEX sms_ready ON sms (id)
WHERE  sent IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
