-- Package runsq uses the table runs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Drop------------> (deleted)
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- Besides the queue's own rows it writes orders (Complete, Fail, Recover); ended (Drop), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready and runs_expired.
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
-- note: no column says when a claim in column "taken" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: on giveup, column "state" gets 'lost' as qgen:on says, not 'failed' as qgen:status would
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "taken", which counts whole seconds: two claims within one second look alike
-- note: also: done writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: warning: also: drop reads runs while the rows are there still that the step takes away: leave out the row of the job itself, and call it with one job at a time, since of several each finds the others
-- note: also: giveup writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       taken = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, order_id, taken;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       taken = unixepoch()
WHERE  id = (
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  1)
RETURNING id, order_id, taken;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
SELECT /* runsq.Complete */
       id
FROM   runs
WHERE  (id, taken) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/complete.sql
-- complete: running to done
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
UPDATE /* runsq.Complete */ runs
SET    state = 'done'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken = taken_held
      AND    state = 'busy')
RETURNING id;

-- sql/complete_update_orders.sql
-- complete: updates rows of orders for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads
-- locks: the database for writing, while the statement runs
-- index: the key; of orders one that begins with id
-- arguments: 1: batch_all ID
UPDATE /* runsq.Complete */ orders
SET    state = (case when exists (select 1 from runs o where o.order_id = held.order_id and o.state in ('new', 'busy')) then 'open' else 'closed' end)
FROM   runs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    orders.id = held.order_id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
SELECT /* runsq.Fail */
       id
FROM   runs
WHERE  (id, taken) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/fail_update_orders.sql
-- fail: updates rows of orders for the rows that fail_lock.sql locked, before fail.sql; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of orders one that begins with id
-- arguments: 1: batch_all ID Taken
UPDATE /* runsq.Fail */ orders
SET    failed = (orders.failed + shared.jobs)
FROM   (
       SELECT held.order_id AS of_id,
              count(*) AS jobs
       FROM   runs AS held
WHERE  (held.id, held.taken) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1))
       GROUP  BY held.order_id
       ) AS shared
WHERE  orders.id = shared.of_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
UPDATE /* runsq.Fail */ runs
SET    state = 'failed'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken = taken_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail_update_orders_2.sql
-- fail: updates rows of orders for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads
-- locks: the database for writing, while the statement runs
-- index: the key; of orders one that begins with id
-- arguments: 1: batch_all ID
UPDATE /* runsq.Fail */ orders
SET    state = (case when exists (select 1 from runs o where o.order_id = orders.id and o.state in ('new', 'busy')) then 'open' else 'closed' end)
FROM   runs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    orders.id = held.order_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
UPDATE /* runsq.Requeue */ runs
SET    state = 'new',
       taken = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken = taken_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
UPDATE /* runsq.Extend */ runs
SET    taken = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken = taken_held
      AND    state = 'busy')
RETURNING id, taken;

-- sql/outcome_drop_lock.sql
-- outcome_drop: locks the rows of jobs whose claims are still theirs, which outcome_drop.sql then writes
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
SELECT /* runsq.Drop */
       id
FROM   runs
WHERE  (id, taken) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/outcome_drop_insert_ended.sql
-- outcome_drop: inserts rows into ended for the rows that outcome_drop_lock.sql locked, before outcome_drop.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Taken
INSERT /* runsq.Drop */ INTO ended
       (order_id)
SELECT held.order_id
FROM   runs AS held
WHERE  (held.id, held.taken) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1))
AND    +((not exists (select 1 from runs o where o.order_id = held.order_id and o.id <> held.id)));

-- sql/outcome_drop.sql
-- outcome_drop: running to deleted
-- fence: taken as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Taken
DELETE /* runsq.Drop */ FROM runs
WHERE  (id, taken) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_held
           FROM   json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (taken) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: timeout, 2: limit
SELECT /* runsq.Recover */
       id
FROM   runs
WHERE  state = 'busy'
AND    taken <= CAST(unixepoch() - ?1 AS INTEGER)
LIMIT  ?2;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* runsq.Recover */ runs
SET    state = 'lost'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/recover_failed_update_orders.sql
-- recover_failed: updates rows of orders for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads
-- locks: the database for writing, while the statement runs
-- index: the key; of orders one that begins with id
-- arguments: 1: batch_all ID
UPDATE /* runsq.Recover */ orders
SET    state = (case when exists (select 1 from runs o where o.order_id = held.order_id and o.state in ('new', 'busy')) then 'open' else 'lost' end)
FROM   runs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    orders.id = held.order_id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'new',
       taken = NULL
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state IN ('failed', 'lost')
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'done' would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'done'
           AND    taken <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state IN ('failed', 'lost') would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state IN ('failed', 'lost')
           AND    taken <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* runsq.Reserve */ FROM runs
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new OrderID
INSERT /* runsq.Enqueue */ INTO runs
       (order_id)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all OrderID
INSERT /* runsq.EnqueueMany */ INTO runs
       (order_id)
SELECT order_id_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS order_id_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state IN ('failed', 'lost')) AS failed,
       count(*) FILTER (WHERE state = 'busy' AND taken <= CAST(unixepoch() - ?1 AS INTEGER)) AS expired,
       (unixepoch() - min(taken) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* runsq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, order_id
FROM   runs
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
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
WITH /* runsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('order_id', 'integer'),
           ('state', 'text'),
           ('taken', 'integer')
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

-- sql/verify_columns_also.sql
-- verify: columns of orders
-- locks: none
WITH /* runsq.Verify */ want (name, type) AS (
    VALUES ('state', 'text'),
           ('id', 'integer'),
           ('failed', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('orders') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also2.sql
-- verify: columns of ended
-- locks: none
WITH /* runsq.Verify */ want (name, type) AS (
    VALUES ('order_id', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('ended') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* runsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('runs_ready', 'id', 'id', 'state=''new'''),
           ('runs_expired', 'taken', 'taken', 'state=''busy''')
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
    FROM   pragma_index_list('runs') AS l
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
CREATE INDEX runs_ready ON runs (id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX runs_expired ON runs (taken)
WHERE  state = 'busy';
