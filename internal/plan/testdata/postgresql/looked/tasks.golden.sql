-- Package tasksq uses the table tasks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes records (Claim, Complete, Requeue, Fail, Recover, Redrive), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no order is said: rows are taken in the order of the key, id
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE free = true
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* tasksq.Claim */ tasks
SET    free = false,
       since = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  free = true
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, record, since;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE free = true
-- isolation: read committed
-- arguments: 1: low
UPDATE /* tasksq.Claim */ tasks
SET    free = false,
       since = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  free = true
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, record, since;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE free = true
-- isolation: read committed
-- arguments: 1: low
UPDATE /* tasksq.Claim */ tasks
SET    free = false,
       since = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  free = true
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, record, since;

-- sql/claim_update_records.sql
-- claim: updates rows of records for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Claim */ records
SET    status = 'running'
FROM   tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    records.id = held.record;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
SELECT /* tasksq.Complete */
       id
FROM   tasks,
       unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) THEN true END
FOR    UPDATE OF tasks;

-- sql/complete_update_records.sql
-- complete: updates rows of records for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* tasksq.Complete */ records
SET    status = 'complete'
FROM   tasks AS held,
       unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  held.id = id_held
AND    CASE WHEN held.since = since_held THEN true END
AND    records.id = held.record;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
DELETE /* tasksq.Complete */ FROM tasks
USING  unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held THEN true END
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
SELECT /* tasksq.Fail */
       id
FROM   tasks,
       unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) THEN true END
FOR    NO KEY UPDATE OF tasks;

-- sql/fail_update_records.sql
-- fail: updates rows of records for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* tasksq.Fail */ records
SET    status = 'error'
FROM   tasks AS held,
       unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  held.id = id_held
AND    CASE WHEN held.since = since_held THEN true END
AND    records.id = held.record;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* tasksq.Fail */ tasks
SET    free = false
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held THEN true END
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
SELECT /* tasksq.Requeue */
       id
FROM   tasks,
       unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) THEN true END
FOR    NO KEY UPDATE OF tasks;

-- sql/requeue_update_records.sql
-- requeue: updates rows of records for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* tasksq.Requeue */ records
SET    status = 'waiting'
FROM   tasks AS held,
       unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  held.id = id_held
AND    CASE WHEN held.since = since_held THEN true END
AND    records.id = held.record;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* tasksq.Requeue */ tasks
SET    free = true,
       since = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* tasksq.Extend */ tasks
SET    since = floor(extract(epoch FROM now()))::bigint
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) THEN true END
RETURNING id, since;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (since)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Recover */
       id
FROM   tasks
WHERE  (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))
AND    since <= floor(extract(epoch FROM now()) - 10)::bigint
LIMIT  $1
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/recover_update_records.sql
-- recover: updates rows of records for the rows that recover_lock.sql locked, before recover.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Recover */ records
SET    status = 'waiting'
FROM   tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    records.id = held.record;

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Recover */ tasks
SET    free = true,
       since = NULL
WHERE  id = ANY ($1::bigint[])
RETURNING id;

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Redrive */
       id
FROM   tasks
WHERE  (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))
LIMIT  $1
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/redrive_update_records.sql
-- redrive: updates rows of records for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the rows it writes, until commit
-- index: the key; of records one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Redrive */ records
SET    status = 'waiting'
FROM   tasks AS held
WHERE  held.id = ANY ($1::bigint[])
AND    records.id = held.record;

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* tasksq.Redrive */ tasks
SET    free = true,
       since = NULL
WHERE  id = ANY ($1::bigint[])
RETURNING id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))
           AND    since <= floor(extract(epoch FROM now()) - $1)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Record
INSERT /* tasksq.Enqueue */ INTO tasks
       (id, record, free)
VALUES ($1, $2, true)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Record
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (id, record, free)
SELECT id_new, record_new, true
FROM   unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS job (id_new, record_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE free = true) AS ready,
       count(*) FILTER (WHERE (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running'))) AS running,
       count(*) FILTER (WHERE (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'error'))) AS failed,
       count(*) FILTER (WHERE (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')) AND since <= floor(extract(epoch FROM now()) - 10)::bigint) AS expired,
       (floor(extract(epoch FROM now()))::bigint - min(since) FILTER (WHERE (free = false and exists (select 1 from records b where b.id = tasks.record and b.status = 'running')))) AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE free = true
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  free = true;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE free = true
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, record
FROM   tasks
WHERE  free = true
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
               ('record', 'bigint'),
               ('free', 'boolean'),
               ('since', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of records
-- locks: none
SELECT /* tasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('status', 'varchar'),
               ('id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('records')
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
FROM   (VALUES ('tasks_ready', 'id nulls first', 'id nulls first', 'free=true'),
               ('tasks_expired', 'since', 'since', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX CONCURRENTLY tasks_ready ON tasks (id NULLS FIRST)
WHERE  free = true;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY tasks_expired ON tasks (since);
