-- Package jobsq uses the table jobs as a queue of jobs on SQLite 3.41 and later.
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
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes runs (Claim, Complete, Fail, Redrive); answers (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
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
-- note: column "code" stays as it is when a job fails because its claim ran out (giveup)
-- note: column "why" of runs is left out when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* jobsq.Claim */ jobs
SET    state = 1,
       lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = tries + 1
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 0
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, lease_till, tries, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* jobsq.Claim */ jobs
SET    state = 1,
       lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER),
       tries = tries + 1
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  state = 0
           ORDER  BY id
           LIMIT  1)
RETURNING id, lease_till, tries, body;

-- sql/claim_insert_runs.sql
-- claim: inserts rows into runs for the rows that were taken
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: worker Host, 2: given node *string, 3: batch_all ID
INSERT /* jobsq.Claim */ INTO runs
       (job_id, host, node)
SELECT held.id, ?1, ?2
FROM   jobs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?3));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
SELECT /* jobsq.Complete */
       id
FROM   jobs
WHERE  (id, tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1))
AND    +(state = 1);

-- sql/complete_insert_answers.sql
-- complete: inserts rows into answers for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Tries Answer BodyValue Weight At
INSERT /* jobsq.Complete */ INTO answers
       (id, code, body, weight, answered_at)
SELECT held.id, code_held, body_held, weight_held, answered_at_held
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS code_held,
                  unhex(json_extract(value, '$[3]')) AS body_held,
                  json_extract(value, '$[4]') AS weight_held,
                  json_extract(value, '$[5]') AS answered_at_held
           FROM   json_each(?1)
       ) AS job
       CROSS JOIN jobs AS held
WHERE  held.id = id_held
AND    held.tries = tries_held;

-- sql/complete_delete_runs.sql
-- complete: deletes rows from runs for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of runs one that begins with job_id
-- arguments: 1: batch_all ID Tries
DELETE /* jobsq.Complete */ FROM runs
WHERE  job_id IN (
SELECT held.id
FROM   jobs AS held
WHERE  (held.id, held.tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)));

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Code
UPDATE /* jobsq.Complete */ jobs
SET    state = 2,
       lease_till = NULL,
       code = code_held
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS code_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 1)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Fail */ jobs
SET    state = 0,
       lease_till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 1)
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
SELECT /* jobsq.Fail */
       id
FROM   jobs
WHERE  (id, tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1))
AND    +(state = 1);

-- sql/fail_update_runs.sql
-- fail: updates rows of runs for the rows that fail_lock.sql locked, before fail.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of runs one that begins with job_id, host
-- arguments: 1: given why *string, 2: batch_all ID Tries, 3: worker Host
UPDATE /* jobsq.Fail */ runs
SET    why = ?1
FROM   jobs AS held
WHERE  (held.id, held.tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2))
AND    runs.job_id = held.id
AND    runs.host = ?3;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: given code *int64, 2: batch_all ID Tries
UPDATE /* jobsq.Fail */ jobs
SET    state = 3,
       lease_till = NULL,
       code = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Requeue */ jobs
SET    state = 0,
       lease_till = NULL,
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 1)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* jobsq.Extend */ jobs
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 1)
RETURNING id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE state = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 0,
       lease_till = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 1
           AND    tries < 3
           AND    lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE state = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 3,
       lease_till = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 1
           AND    tries >= 3
           AND    lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
SELECT /* jobsq.Redrive */
       id
FROM   jobs
WHERE  state = 3
LIMIT  ?1;

-- sql/redrive_update_runs.sql
-- redrive: updates rows of runs for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of runs one that begins with job_id
-- arguments: 1: given why *string, 2: batch_all ID
UPDATE /* jobsq.Redrive */ runs
SET    why = ?1
FROM   jobs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    runs.job_id = held.id;

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* jobsq.Redrive */ jobs
SET    state = 0,
       lease_till = NULL,
       tries = 0
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 3)
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 2 would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 2
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 3 would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 3
           LIMIT  ?1);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* jobsq.Reserve */ FROM jobs
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Body
INSERT /* jobsq.Enqueue */ INTO jobs
       (body)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Body
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (body)
SELECT body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state = 3) AS failed,
       count(*) FILTER (WHERE state = 1 AND lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 0
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, tries, body
FROM   jobs
WHERE  state = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.41'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 41);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'INTEGER'),
           ('lease_till', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('code', 'INTEGER'),
           ('body', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('jobs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of runs
-- locks: none
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('job_id', 'INTEGER'),
           ('host', 'varchar(40)'),
           ('node', 'varchar(20)'),
           ('why', 'varchar(20)')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('runs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also2.sql
-- verify: columns of answers
-- locks: none
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('code', 'varchar(20)'),
           ('body', 'BLOB'),
           ('weight', 'REAL'),
           ('answered_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('answers') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* jobsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_ready', 'id', 'id', 'state=0'),
           ('jobs_expired', 'lease_till', 'lease_till', 'state=1')
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
    FROM   pragma_index_list('jobs') AS l
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
CREATE INDEX jobs_ready ON jobs (id)
WHERE  state = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX jobs_expired ON jobs (lease_till)
WHERE  state = 1;
