-- Package actionsq uses the table actions as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken.
--
-- The fence is at level token: every claim adds a row to claims and leaves its id in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its id.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes claims (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates actions_ready and actions_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       from=companion adds a row between finding jobs and marking them
--   lease_table  from=companion adds a row between finding jobs and marking them
--   hold         from=companion adds a row between finding jobs and marking them
--   partition    from=companion adds a row between finding jobs and marking them
--   returning    from=companion adds a row between finding jobs and marking them
--   block        from=companion adds a row between finding jobs and marking them
--   token        from=companion adds a row between finding jobs and marking them
--   lock_update  SQLite locks the whole database, not rows
--   advisory     from=companion adds a row between finding jobs and marking them
-- * guarded      the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken
--   pop          from=companion adds a row between finding jobs and marking them
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* actionsq.Claim */
       id
FROM   actions
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?1;

-- sql/claim_batch.sql
-- claim: one row of claims for the rows that claim_pick.sql named; claim.sql then writes its id to them
-- locks: the database for writing, while the statement runs
-- index: none; it reads nothing
-- arguments: 1: worker Holder
INSERT /* actionsq.Claim */ INTO claims
       (holder, made_at)
VALUES (?1, unixepoch() - 300)
RETURNING id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: token ClaimID, 2: batch_all ID
UPDATE /* actionsq.Claim */ actions
SET    state = 'A',
       claimed = unixepoch(),
       claim_id = ?1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(state = 'N')
RETURNING id, hook, claimed, claim_id;

-- sql/claim_batch_undo.sql
-- claim: deletes the row of claims again where others were quicker and claim.sql took none
-- locks: the database for writing, while the statement runs
-- index: the primary key of claims
-- arguments: 1: token ID
DELETE /* actionsq.Claim */ FROM claims
WHERE  id = ?1;

-- sql/complete.sql
-- complete: running to done
-- fence: claim_id as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimID
UPDATE /* actionsq.Complete */ actions
SET    state = 'D'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claim_id_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claim_id = claim_id_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: claim_id as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimID
UPDATE /* actionsq.Fail */ actions
SET    state = 'E'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claim_id_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claim_id = claim_id_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claim_id as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimID
UPDATE /* actionsq.Requeue */ actions
SET    state = 'N',
       claimed = NULL,
       claim_id = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claim_id_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claim_id = claim_id_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: claim_id as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimID
UPDATE /* actionsq.Extend */ actions
SET    claimed = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claim_id_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claim_id = claim_id_held
      AND    state = 'A')
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (claimed) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* actionsq.Recover */ actions
SET    state = 'N',
       claimed = NULL,
       claim_id = 0
WHERE  id IN (
           SELECT id
           FROM   actions
           WHERE  state = 'A'
           AND    claimed <= unixepoch() - 300
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* actionsq.Redrive */ actions
SET    state = 'N',
       claimed = NULL,
       claim_id = 0
WHERE  id IN (
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (claimed) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ FROM actions
WHERE  id IN (
           SELECT id
           FROM   actions
           WHERE  state = 'D'
           AND    claimed <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (claimed) WHERE state = 'E' would find them
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ FROM actions
WHERE  id IN (
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           AND    claimed <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Hook
INSERT /* actionsq.Enqueue */ INTO actions
       (hook)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Hook
INSERT /* actionsq.EnqueueMany */ INTO actions
       (hook)
SELECT hook_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS hook_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* actionsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'A' AND claimed <= unixepoch() - 300) AS expired,
       (unixepoch() - min(claimed) FILTER (WHERE state = 'A')) AS oldest_running
FROM   actions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N'
SELECT /* actionsq.Backlog */
       count(*) AS ready
FROM   actions
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* actionsq.Peek */
       id, hook, claim_id
FROM   actions
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* actionsq.Verify */
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
WITH /* actionsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('hook', 'TEXT'),
           ('state', 'TEXT'),
           ('claimed', 'INTEGER'),
           ('claim_id', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('actions') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of claims
-- locks: none
WITH /* actionsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('holder', 'TEXT'),
           ('made_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('claims') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* actionsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('actions_ready', 'id', 'id', 'state=''n'''),
           ('actions_expired', 'claimed', 'claimed', 'state=''a''')
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
    FROM   pragma_index_list('actions') AS l
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
CREATE INDEX actions_ready ON actions (id)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX actions_expired ON actions (claimed)
WHERE  state = 'A';
