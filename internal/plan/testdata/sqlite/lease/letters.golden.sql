-- Package lettersq uses the table letters as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table letters_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         SQLite locks the whole database, not rows
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQLite has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running, by a row of letters_lease for each of ready rows
-- locks: the database for writing, while the statement runs
-- index: (kind, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: worker Worker, 3: param kind string, 4: limit
INSERT /* lettersq.Claim */ INTO letters_lease
       (id, token, worker, claimed_until, attempts)
SELECT letters.id, ?1, ?2,
       CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER), 1
FROM   letters
WHERE  kind = ?3
AND    NOT EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND letters_lease.attempts < 5))
ORDER  BY id
LIMIT  ?4
ON     CONFLICT (id) DO UPDATE
SET    token = ?1,
       worker = ?2,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       attempts = letters_lease.attempts + 1
WHERE  letters_lease.failed_at IS NULL
AND    letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
AND    letters_lease.attempts < 5;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of letters_lease, and the key
-- arguments: 1: token Token
SELECT /* lettersq.Claim */
       letters.id, letters.kind, letters.priority, letters.body, letters_lease.token,
       letters_lease.claimed_until, letters_lease.attempts, letters_lease.error
FROM   letters_lease, letters
WHERE  letters_lease.token = ?1
AND    letters_lease.id = letters.id;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
DELETE /* lettersq.Complete */ FROM letters_lease
WHERE  (id, token) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1))
AND    +(failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* lettersq.Complete */ FROM letters
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch_all ID Token
UPDATE /* lettersq.Fail */ letters_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       error = ?2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?3)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Token
UPDATE /* lettersq.Fail */ letters_lease
SET    token = NULL,
       worker = NULL,
       error = ?1,
       failed_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Token
UPDATE /* lettersq.Requeue */ letters_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       attempts = attempts - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Token
UPDATE /* lettersq.Extend */ letters_lease
SET    claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id)))
RETURNING id, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: letters_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ letters_lease
SET    token = NULL,
       worker = NULL
WHERE  id IN (
           SELECT id
           FROM   letters_lease INDEXED BY letters_lease_expired
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 5
           AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: letters_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ letters_lease
SET    token = NULL,
       worker = NULL,
       error = 'the claim ran out',
       failed_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   letters_lease INDEXED BY letters_lease_expired
           WHERE  failed_at IS NULL
           AND    attempts >= 5
           AND    (EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the database for writing, while the statement runs
-- index: letters_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
DELETE /* lettersq.Recover */ FROM letters_lease
WHERE  id IN (
           SELECT id
           FROM   letters_lease
           WHERE  (NOT EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: letters_lease_expired (failed_at, claimed_until)
-- arguments: 1: limit
DELETE /* lettersq.Redrive */ FROM letters_lease
WHERE  id IN (
           SELECT id
           FROM   letters_lease
           WHERE  failed_at IS NOT NULL
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: older, 2: limit
DELETE /* lettersq.Purge */ FROM letters
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND letters_lease.failed_at IS NOT NULL AND letters_lease.failed_at <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER))
           LIMIT  ?2);

-- sql/purge_left.sql
-- purge_left: the claims of the rows that purge_failed.sql deleted, to gone
-- locks: the database for writing, while the statement runs
-- index: letters_lease_expired (failed_at, claimed_until); it reads others as well
-- arguments: 1: older, 2: limit
DELETE /* lettersq.Purge */ FROM letters_lease
WHERE  id IN (
           SELECT id
           FROM   letters_lease
           WHERE  failed_at IS NOT NULL
           AND    failed_at <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           AND    (NOT EXISTS (SELECT 1 FROM letters WHERE letters_lease.id = letters.id))
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Kind, 2: new Priority, 3: new Body
INSERT /* lettersq.Enqueue */ INTO letters
       (kind, priority, body)
VALUES (?1, ?2, ?3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Kind Priority Body
INSERT /* lettersq.EnqueueMany */ INTO letters
       (kind, priority, body)
SELECT kind_new, priority_new, body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS kind_new,
                  json_extract(value, '$[1]') AS priority_new,
                  json_extract(value, '$[2]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND letters_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       count(*) FILTER (WHERE letters_lease.failed_at IS NOT NULL) AS failed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: (kind, id)
-- arguments: 1: param kind string
SELECT /* lettersq.StatsOf */
       count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND letters_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       count(*) FILTER (WHERE letters_lease.failed_at IS NOT NULL) AS failed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id
WHERE  letters.kind = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Backlog */
       letters.kind,
       count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND letters_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed
FROM   letters LEFT JOIN letters_lease ON letters_lease.id = letters.id
GROUP  BY +letters.kind
HAVING count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND letters_lease.attempts < 5)) > 0
OR     count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) > 0
ORDER  BY +letters.kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind string, 2: limit
SELECT /* lettersq.Peek */
       id, kind, priority, body
FROM   letters
WHERE  kind = ?1
AND    NOT EXISTS (SELECT 1 FROM letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND letters_lease.attempts < 5))
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
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
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('kind', 'varchar(20)'),
           ('priority', 'integer'),
           ('body', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('letters') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_lease.sql
-- verify: columns of letters_lease
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('token', 'text'),
           ('worker', 'text'),
           ('claimed_until', 'integer'),
           ('attempts', 'integer'),
           ('error', 'text'),
           ('failed_at', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('letters_lease') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* lettersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('letters_ready', 'kind, id', 'kind', '')
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
    FROM   pragma_index_list('letters') AS l
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
CREATE INDEX letters_ready ON letters (kind, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
