-- Package partsq uses the table parts as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
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
-- Claims are rows of the table part_claims, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parts_ready.
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
-- note: no order is said: rows are taken in the order of the key, region, seq

-- sql/claim.sql
-- claim: ready to running, by a row of part_claims for each of ready rows
-- locks: the database for writing, while the statement runs
-- index: (region, seq) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: worker Worker, 3: limit
INSERT /* partsq.Claim */ INTO part_claims
       (region, seq, token, worker, claimed_until, attempts)
SELECT parts.region, parts.seq, ?1, ?2,
       CAST((julianday('now') - 2440587.5) * 86400000 + 600 * 1000 AS INTEGER), 1
FROM   parts
WHERE  state = 'N'
AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND part_claims.attempts < 3))
ORDER  BY region, seq
LIMIT  ?3
ON     CONFLICT (region, seq) DO UPDATE
SET    token = ?1,
       worker = ?2,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 600 * 1000 AS INTEGER),
       attempts = part_claims.attempts + 1
WHERE  part_claims.failed_at IS NULL
AND    part_claims.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
AND    part_claims.attempts < 3;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of part_claims, and the key
-- arguments: 1: token Token
SELECT /* partsq.Claim */
       parts.region, parts.seq, part_claims.token, part_claims.claimed_until,
       part_claims.attempts, part_claims.error
FROM   part_claims, parts
WHERE  part_claims.token = ?1
AND    part_claims.region = parts.region
AND    part_claims.seq = parts.seq
AND    parts.state = 'N';

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq Token
DELETE /* partsq.Complete */ FROM part_claims
WHERE  (region, seq, token) IN (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1))
AND    +(failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')))
RETURNING region, seq;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq
UPDATE /* partsq.Complete */ parts
SET    state = 'C'
FROM   (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held
           FROM   json_each(?1)
       ) AS job
WHERE  region = region_held
AND    seq = seq_held
AND    +(state = 'N');

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch_all Region Seq Token
UPDATE /* partsq.Fail */ part_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       error = ?2
FROM   (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?3)
       ) AS job
WHERE  region = region_held
AND    seq = seq_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')))
RETURNING region, seq;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq Token
DELETE /* partsq.Fail */ FROM part_claims
WHERE  (region, seq, token) IN (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1))
AND    +(failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')))
RETURNING region, seq;

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq
UPDATE /* partsq.Fail */ parts
SET    state = 'E'
FROM   (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held
           FROM   json_each(?1)
       ) AS job
WHERE  region = region_held
AND    seq = seq_held
AND    +(state = 'N');

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all Region Seq Token
UPDATE /* partsq.Requeue */ part_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       attempts = attempts - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  region = region_held
AND    seq = seq_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')))
RETURNING region, seq;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Region Seq Token
UPDATE /* partsq.Extend */ part_claims
SET    claimed_until = CAST((julianday('now') - 2440587.5) * 86400000 + 600 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS region_held,
                  json_extract(value, '$[1]') AS seq_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  region = region_held
AND    seq = seq_held
AND    +(token = token_held
      AND    failed_at IS NULL
      AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')))
RETURNING region, seq, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: part_claims_expired (failed_at, claimed_until)
-- arguments: 1: limit
UPDATE /* partsq.Recover */ part_claims
SET    token = NULL,
       worker = NULL
WHERE  rowid IN (
           SELECT rowid
           FROM   part_claims INDEXED BY part_claims_expired
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 3
           AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (region, seq) WHERE state = 'N'; it reads others as well
-- arguments: 1: limit
UPDATE /* partsq.Recover */ parts
SET    state = 'E'
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 'N'
           AND    (EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND part_claims.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND part_claims.attempts >= 3))
           LIMIT  ?1);

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the database for writing, while the statement runs
-- index: part_claims_expired (failed_at, claimed_until)
-- arguments: 1: limit
DELETE /* partsq.Recover */ FROM part_claims
WHERE  rowid IN (
           SELECT rowid
           FROM   part_claims
           WHERE  (NOT EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'))
           AND    claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* partsq.Redrive */ parts
SET    state = 'N'
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 'E'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (region, seq) WHERE state = 'C' would find them
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM parts
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 'C'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (region, seq) WHERE state = 'E' would find them
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM parts
WHERE  rowid IN (
           SELECT rowid
           FROM   parts
           WHERE  state = 'E'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Region, 2: new Seq
INSERT /* partsq.Enqueue */ INTO parts
       (region, seq, state)
VALUES (?1, ?2, 'N')
RETURNING region, seq;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Region Seq
INSERT /* partsq.EnqueueMany */ INTO parts
       (region, seq, state)
SELECT region_new, seq_new, 'N'
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS region_new,
                  json_extract(value, '$[1]') AS seq_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING region, seq;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(*) FILTER (WHERE parts.state = 'N' AND (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND part_claims.attempts < 3)) AS ready,
       count(*) FILTER (WHERE parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE parts.state = 'N' AND part_claims.token IS NULL AND part_claims.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       count(*) FILTER (WHERE parts.state = 'C') AS done,
       count(*) FILTER (WHERE parts.state = 'E') AS failed
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (region, seq) WHERE state = 'N'
SELECT /* partsq.Backlog */
       count(*) FILTER (WHERE (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND part_claims.attempts < 3)) AS ready,
       count(*) FILTER (WHERE part_claims.token IS NULL AND part_claims.claimed_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq
WHERE  parts.state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (region, seq) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* partsq.Peek */
       region, seq
FROM   parts
WHERE  state = 'N'
AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AND part_claims.attempts < 3))
ORDER  BY region, seq
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
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
WITH /* partsq.Verify */ want (name, type) AS (
    VALUES ('region', 'varchar(10)'),
           ('seq', 'integer'),
           ('state', 'char(1)')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('parts') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_lease.sql
-- verify: columns of part_claims
-- locks: none
WITH /* partsq.Verify */ want (name, type) AS (
    VALUES ('region', 'varchar(10)'),
           ('seq', 'integer'),
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
LEFT   JOIN pragma_table_xinfo('part_claims') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* partsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('parts_ready', 'region, seq', 'region, seq', 'state=''n''')
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
    FROM   pragma_index_list('parts') AS l
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
CREATE INDEX parts_ready ON parts (region, seq)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
