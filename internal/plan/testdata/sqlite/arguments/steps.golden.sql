-- Package stepsq uses the table steps as a queue of jobs on SQLite 3.41 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken.
--
-- The fence is at level token: every claim adds a row to claims and leaves its id in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its id.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes claims (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates steps_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* stepsq.Claim */
       id
FROM   steps
WHERE  state = 0
ORDER  BY id
LIMIT  ?1;

-- sql/claim_batch.sql
-- claim: one row of claims for the rows that claim_pick.sql named; claim.sql then writes its id to them
-- locks: the database for writing, while the statement runs
-- index: none; it reads nothing
-- arguments: 1: worker Host, 2: given node string
INSERT /* stepsq.Claim */ INTO claims
       (host, node)
VALUES (?1, ?2)
RETURNING id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: token ClaimID, 2: batch_all ID
UPDATE /* stepsq.Claim */ steps
SET    state = 1,
       claim_id = ?1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(state = 0)
RETURNING id, claim_id;

-- sql/claim_batch_undo.sql
-- claim: deletes the row of claims again where others were quicker and claim.sql took none
-- locks: the database for writing, while the statement runs
-- index: the primary key of claims
-- arguments: 1: token ID
DELETE /* stepsq.Claim */ FROM claims
WHERE  id = ?1;

-- sql/complete.sql
-- complete: running to done
-- fence: claim_id as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimID
UPDATE /* stepsq.Complete */ steps
SET    state = 2
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claim_id_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claim_id = claim_id_held
      AND    state = 1)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: claim_id as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimID
UPDATE /* stepsq.Fail */ steps
SET    state = 0,
       claim_id = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claim_id_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claim_id = claim_id_held
      AND    state = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claim_id as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimID
UPDATE /* stepsq.Requeue */ steps
SET    state = 0,
       claim_id = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claim_id_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claim_id = claim_id_held
      AND    state = 1)
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 2 would find them
-- arguments: 1: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 2
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* stepsq.Enqueue */ INTO steps
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 0
SELECT /* stepsq.Backlog */
       count(*) AS ready
FROM   steps
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       id, claim_id
FROM   steps
WHERE  state = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stepsq.Verify */
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
WITH /* stepsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'INTEGER'),
           ('claim_id', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('steps') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of claims
-- locks: none
WITH /* stepsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('host', 'varchar(40)'),
           ('node', 'varchar(20)')
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
WITH /* stepsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('steps_ready', 'id', 'id', 'state=0')
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
    FROM   pragma_index_list('steps') AS l
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
CREATE INDEX steps_ready ON steps (id)
WHERE  state = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
