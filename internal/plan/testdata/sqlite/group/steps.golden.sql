-- Package stepsq uses the table steps as a queue of jobs on SQLite 3.38 and later.
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
-- Of the jobs that are alike in order_id, one runs at once, and in their order: a job is not claimed while one before it is not finished, be it that it runs or waits for its next try; one claim writes at a time and counts what is running.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates steps_ready and steps_group and steps_line.
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
--   guarded      the running rows of a group are counted by the statement that takes the rows
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: the order of a group leaves column "due_at" out, which changes when a job is tried again
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for order_id has it read rows of one group alone
-- note: rows without a value in column "due_at" stand first in the order, where SQLite puts nulls (nulls=last puts them last)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (due_at, id, order_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* stepsq.Claim */ steps
SET    state = 'busy',
       tries = tries + 1,
       taken_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    (due_at <= unixepoch() OR due_at IS NULL)
           AND    NOT EXISTS (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    likelihood(other.state = 'busy', 0.99))
           AND    steps.id = (SELECT other.id
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    likelihood(other.state = 'new', 0.99)
               ORDER  BY other.id
               LIMIT  1)
           ORDER  BY due_at, id
           LIMIT  ?1)
RETURNING id, order_id, due_at, tries, taken_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (due_at, id, order_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* stepsq.Claim */ steps
SET    state = 'busy',
       tries = tries + 1,
       taken_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    (due_at <= unixepoch() OR due_at IS NULL)
           AND    NOT EXISTS (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    likelihood(other.state = 'busy', 0.99))
           AND    steps.id = (SELECT other.id
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    likelihood(other.state = 'new', 0.99)
               ORDER  BY other.id
               LIMIT  1)
           ORDER  BY due_at, id
           LIMIT  1)
RETURNING id, order_id, due_at, tries, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* stepsq.Complete */ steps
SET    state = 'over'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Tries
UPDATE /* stepsq.Fail */ steps
SET    state = 'new',
       due_at = CAST(unixepoch() + ?1 AS INTEGER),
       taken_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* stepsq.Fail */ steps
SET    state = 'dead'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Tries
UPDATE /* stepsq.Requeue */ steps
SET    state = 'new',
       due_at = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE due_at END,
       tries = tries - 1,
       taken_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* stepsq.Extend */ steps
SET    taken_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (order_id) WHERE state = 'busy', which has the rows that somebody has
-- arguments: 1: limit
UPDATE /* stepsq.Recover */ steps
SET    state = 'new',
       taken_at = NULL
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 'busy'
           AND    tries < 5
           AND    taken_at <= unixepoch() - 600
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (order_id) WHERE state = 'busy', which has the rows that somebody has
-- arguments: 1: limit
UPDATE /* stepsq.Recover */ steps
SET    state = 'dead'
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 'busy'
           AND    tries >= 5
           AND    taken_at <= unixepoch() - 600
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* stepsq.Redrive */ steps
SET    state = 'new',
       tries = 0,
       taken_at = NULL
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'over' would find them
-- arguments: 1: older, 2: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 'over'
           AND    taken_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'dead' would find them
-- arguments: 1: older, 2: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id IN (
           SELECT id
           FROM   steps
           WHERE  state = 'dead'
           AND    taken_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new OrderID, 2: new DueAt
INSERT /* stepsq.Enqueue */ INTO steps
       (order_id, due_at)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all OrderID DueAt
INSERT /* stepsq.EnqueueMany */ INTO steps
       (order_id, due_at)
SELECT order_id_new, due_at_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS order_id_new,
                  json_extract(value, '$[1]') AS due_at_new
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
       count(*) FILTER (WHERE state = 'new' AND (due_at <= unixepoch() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'new' AND due_at > unixepoch()) AS delayed,
       count(*) FILTER (WHERE state = 'busy' AND taken_at <= unixepoch() - 600) AS expired,
       (unixepoch() - min(due_at) FILTER (WHERE state = 'new' AND (due_at <= unixepoch() OR due_at IS NULL))) AS oldest_ready,
       (unixepoch() - min(taken_at) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (due_at, id, order_id) WHERE state = 'new'
SELECT /* stepsq.Backlog */
       count(*) FILTER (WHERE (due_at <= unixepoch() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE due_at > unixepoch()) AS delayed,
       (unixepoch() - min(due_at) FILTER (WHERE (due_at <= unixepoch() OR due_at IS NULL))) AS oldest_ready
FROM   steps
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (due_at, id, order_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       id, order_id, due_at, tries
FROM   steps
WHERE  state = 'new'
AND    (due_at <= unixepoch() OR due_at IS NULL)
AND    NOT EXISTS (SELECT 1
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    likelihood(other.state = 'busy', 0.99))
AND    steps.id = (SELECT other.id
               FROM   steps AS other
               WHERE  other.order_id = steps.order_id
               AND    likelihood(other.state = 'new', 0.99)
               ORDER  BY other.id
               LIMIT  1)
ORDER  BY due_at, id
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
           ('order_id', 'INTEGER'),
           ('state', 'TEXT'),
           ('due_at', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('taken_at', 'INTEGER')
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* stepsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('steps_ready', 'due_at, id', 'due_at', 'state=''new'''),
           ('steps_group', 'order_id', 'order_id', 'state=''busy'''),
           ('steps_line', 'order_id, id', 'order_id', 'state=''new''')
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
CREATE INDEX steps_ready ON steps (due_at, id, order_id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX steps_group ON steps (order_id)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX steps_line ON steps (order_id, id)
WHERE  state = 'new';
