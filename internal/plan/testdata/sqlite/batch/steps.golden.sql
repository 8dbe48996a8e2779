-- Package stepsq uses the table steps as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
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
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* stepsq.Claim */
       id, weight
FROM   steps
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?1;

-- sql/claim_batch.sql
-- claim: one row of claims for the rows that claim_pick.sql named; claim.sql then writes its id to them
-- locks: the database for writing, while the statement runs
-- index: none; it reads nothing
INSERT /* stepsq.Claim */ INTO claims
       (holder, made_at)
VALUES ('steps', (unixepoch()))
RETURNING id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: token Run, 2: batch_all ID
UPDATE /* stepsq.Claim */ steps
SET    state = 'A',
       run = ?1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
AND    +(state = 'N')
RETURNING id, weight, run;

-- sql/claim_batch_undo.sql
-- claim: deletes the row of claims again where others were quicker and claim.sql took none
-- locks: the database for writing, while the statement runs
-- index: the primary key of claims
-- arguments: 1: token ID
DELETE /* stepsq.Claim */ FROM claims
WHERE  id = ?1;

-- sql/complete.sql
-- complete: running to done
-- fence: run as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Run
UPDATE /* stepsq.Complete */ steps
SET    state = 'D'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS run_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(run = run_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: run as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Run
UPDATE /* stepsq.Fail */ steps
SET    state = 'N',
       run = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS run_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(run = run_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Run
UPDATE /* stepsq.Requeue */ steps
SET    state = 'N',
       run = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS run_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(run = run_held
      AND    state = 'A')
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 'D'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Weight
INSERT /* stepsq.Enqueue */ INTO steps
       (weight)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Weight
INSERT /* stepsq.EnqueueMany */ INTO steps
       (weight)
SELECT weight_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS weight_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N'
SELECT /* stepsq.Backlog */
       count(*) AS ready
FROM   steps
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       id, weight
FROM   steps
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stepsq.Verify */
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
WITH /* stepsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('weight', 'INTEGER'),
           ('state', 'TEXT'),
           ('run', 'INTEGER')
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
WITH /* stepsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('steps_ready', 'id', 'id', 'state=''n''')
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
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
