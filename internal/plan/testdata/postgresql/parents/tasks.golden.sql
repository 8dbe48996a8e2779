-- Package tasksq uses the table tasks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready and tasks_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no column says when a claim in column "taken" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: warning: also: fail takes rows of other jobs to another state whatever state they are in, also those that others run; a state among where: leaves these alone
-- note: warning: also: fail makes column "state" of tasks from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: warning: also: giveup makes column "state" of tasks from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: no order is said: rows are taken in the order of the key, id
-- note: also: done writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: also: giveup writes tasks behind the rows of tasks, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* tasksq.Claim */ tasks
SET    state = 'busy',
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, parent_id, whole, taken;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* tasksq.Claim */ tasks
SET    state = 'busy',
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, parent_id, whole, taken;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* tasksq.Claim */ tasks
SET    state = 'busy',
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, parent_id, whole, taken;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
SELECT /* tasksq.Complete */
       id
FROM   tasks,
       unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF tasks;

-- sql/complete.sql
-- complete: running to done
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* tasksq.Complete */ tasks
SET    state = 'done'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/complete_update_tasks_lock.sql
-- complete: locks the rows of other jobs that complete_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* tasksq.Complete */ 1
FROM   tasks,
       tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    CASE WHEN (tasks.whole)
            AND    (tasks.state <> 'done') THEN true END
AND    tasks.id = held.parent_id
AND    tasks.id <> ALL ($1::bigint[])
ORDER  BY tasks.id
FOR    NO KEY UPDATE OF tasks;

-- sql/complete_update_tasks.sql
-- complete: updates rows of tasks for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Complete */ tasks
SET    state = 'done'
FROM   tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    CASE WHEN (tasks.whole and tasks.state <> 'done' and not exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'done')) THEN true END
AND    tasks.id = held.parent_id
AND    tasks.id <> ALL ($1::bigint[]);

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
SELECT /* tasksq.Fail */
       id
FROM   tasks,
       unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF tasks;

-- sql/fail.sql
-- fail: running to failed
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* tasksq.Fail */ tasks
SET    state = 'failed'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail_update_tasks_lock.sql
-- fail: locks the rows of other jobs that fail_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* tasksq.Fail */ 1
FROM   tasks,
       tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    tasks.id = held.parent_id
AND    tasks.id <> ALL ($1::bigint[])
ORDER  BY tasks.id
FOR    NO KEY UPDATE OF tasks;

-- sql/fail_update_tasks.sql
-- fail: updates rows of tasks for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Fail */ tasks
SET    state = (case when exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
FROM   tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    tasks.id = held.parent_id
AND    tasks.id <> ALL ($1::bigint[]);

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* tasksq.Requeue */ tasks
SET    state = 'new',
       taken = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* tasksq.Extend */ tasks
SET    taken = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id, taken;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (taken) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
SELECT /* tasksq.Recover */
       id
FROM   tasks
WHERE  state = 'busy'
AND    taken <= now() - make_interval(secs => $1)
LIMIT  $2
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Recover */ tasks
SET    state = 'failed'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/recover_failed_update_tasks_lock.sql
-- recover_failed: locks the rows of other jobs that recover_failed_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* tasksq.Recover */ 1
FROM   tasks,
       tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    tasks.id = held.parent_id
AND    tasks.id <> ALL ($1::bigint[])
ORDER  BY tasks.id
FOR    NO KEY UPDATE OF tasks;

-- sql/recover_failed_update_tasks.sql
-- recover_failed: updates rows of tasks for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (id)
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Recover */ tasks
SET    state = (case when exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
FROM   tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    tasks.id = held.parent_id
AND    tasks.id <> ALL ($1::bigint[]);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ tasks
SET    state = 'new',
       taken = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'done'
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new ParentID, 3: new Whole
INSERT /* tasksq.Enqueue */ INTO tasks
       (id, parent_id, whole)
VALUES ($1, $2, coalesce($3::boolean, false))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch ParentID, 3: new_batch Whole
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (id, parent_id, whole)
SELECT id_new, parent_id_new, coalesce(whole_new, false)
FROM   unnest($1::bigint[], $2::bigint[], $3::boolean[]) WITH ORDINALITY AS job (id_new, parent_id_new, whole_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND taken <= now() - make_interval(secs => $1)) AS expired,
       extract(epoch FROM now() - min(taken) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, parent_id, whole
FROM   tasks
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('parent_id', 'bigint'),
               ('whole', 'boolean'),
               ('state', 'text'),
               ('taken', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* tasksq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('tasks_expired', 'taken', 'taken', 'state=''busy'''),
               ('tasks_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('tasks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY tasks_ready ON tasks (id NULLS FIRST)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY tasks_expired ON tasks (taken)
WHERE  state = 'busy';

-- serves Claim: the only row of each value that is asked for: tasks_pkey serves already
