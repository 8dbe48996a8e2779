-- Package guardedq uses the table moves as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: strategy=guarded is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates moves_composite_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=guarded is asked for
--   lease_table  strategy=guarded is asked for
--   hold         strategy=guarded is asked for
--   partition    strategy=guarded is asked for
--   returning    strategy=guarded is asked for
--   block        strategy=guarded is asked for
--   token        strategy=guarded is asked for
--   lock_update  strategy=guarded is asked for
--   advisory     strategy=guarded is asked for
-- * guarded      strategy=guarded is asked for
--   pop          strategy=guarded is asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, tenant, move_no
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (tenant, move_no) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* guardedq.Claim */
       tenant, move_no
FROM   moves
WHERE  state = 'new'
ORDER  BY tenant, move_no
LIMIT  ?1;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: token Holder, 2: batch_all Tenant MoveNo
UPDATE /* guardedq.Claim */ moves
SET    state = 'busy',
       holder = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS tenant_picked,
                  json_extract(value, '$[1]') AS move_no_picked
           FROM   json_each(?2)
       ) AS job
WHERE  tenant = tenant_picked
AND    move_no = move_no_picked
AND    +(state = 'new')
RETURNING tenant, move_no, holder;

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Tenant MoveNo Holder Outcome
UPDATE /* guardedq.Complete */ moves
SET    state = 'ok',
       outcome = outcome_held
FROM   (
           SELECT json_extract(value, '$[0]') AS tenant_held,
                  json_extract(value, '$[1]') AS move_no_held,
                  json_extract(value, '$[2]') AS holder_held,
                  json_extract(value, '$[3]') AS outcome_held
           FROM   json_each(?1)
       ) AS job
WHERE  tenant = tenant_held
AND    move_no = move_no_held
AND    +(holder = holder_held
      AND    state = 'busy')
RETURNING tenant, move_no;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Tenant MoveNo Holder
UPDATE /* guardedq.Fail */ moves
SET    state = 'new',
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS tenant_held,
                  json_extract(value, '$[1]') AS move_no_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  tenant = tenant_held
AND    move_no = move_no_held
AND    +(holder = holder_held
      AND    state = 'busy')
RETURNING tenant, move_no;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Tenant MoveNo Holder
UPDATE /* guardedq.Requeue */ moves
SET    state = 'new',
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS tenant_held,
                  json_extract(value, '$[1]') AS move_no_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  tenant = tenant_held
AND    move_no = move_no_held
AND    +(holder = holder_held
      AND    state = 'busy')
RETURNING tenant, move_no;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (tenant, move_no) WHERE state = 'ok' would find them
-- arguments: 1: limit
DELETE /* guardedq.Purge */ FROM moves
WHERE  (tenant, move_no) IN (
           SELECT tenant, move_no
           FROM   moves
           WHERE  state = 'ok'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Tenant, 2: new MoveNo
INSERT /* guardedq.Enqueue */ INTO moves
       (tenant, move_no)
VALUES (?1, ?2)
RETURNING tenant, move_no;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Tenant MoveNo
INSERT /* guardedq.EnqueueMany */ INTO moves
       (tenant, move_no)
SELECT tenant_new, move_no_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS tenant_new,
                  json_extract(value, '$[1]') AS move_no_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING tenant, move_no;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* guardedq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'ok') AS done
FROM   moves;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (tenant, move_no) WHERE state = 'new'
SELECT /* guardedq.Backlog */
       count(*) AS ready
FROM   moves
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (tenant, move_no) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* guardedq.Peek */
       tenant, move_no
FROM   moves
WHERE  state = 'new'
ORDER  BY tenant, move_no
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* guardedq.Verify */
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
WITH /* guardedq.Verify */ want (name, type) AS (
    VALUES ('tenant', 'TEXT'),
           ('move_no', 'INTEGER'),
           ('state', 'TEXT'),
           ('holder', 'TEXT'),
           ('outcome', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('moves') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* guardedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('moves_composite_ready', 'tenant, move_no', 'tenant', 'state=''new''')
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
    FROM   pragma_index_list('moves') AS l
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
-- compositeq advises the same
CREATE INDEX moves_composite_ready ON moves (tenant, move_no)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
