-- Package stepsq uses the table steps as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates steps_ready.
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
-- note: rows are taken as they came, by column "id"
-- note: no Purge here deletes rows that are done: the queue raise over the same table may have them as running. Delete rows where the last queue is done with them (done=delete there, or its Purge)
-- note: no Purge here deletes rows that are failed: the queue raise over the same table may have them as running. Delete rows where the last queue is done with them (done=delete there, or its Purge)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* stepsq.Claim */ steps
SET    state = 'run',
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, parent, since, grade;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* stepsq.Claim */ steps
SET    state = 'run',
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, parent, since, grade;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* stepsq.Claim */ steps
SET    state = 'run',
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, parent, since, grade;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* stepsq.Complete */ steps
SET    state = 'done'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'run' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* stepsq.Fail */ steps
SET    state = 'off'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'run' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* stepsq.Requeue */ steps
SET    state = 'new',
       since = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'run' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* stepsq.Extend */ steps
SET    since = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'run' THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: steps_state (state), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Recover */ steps
SET    state = 'new',
       since = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'run'
           AND    since <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: steps_state (state)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Redrive */ steps
SET    state = 'new',
       since = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'off'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Parent, 2: new Grade
INSERT /* stepsq.Enqueue */ INTO steps
       (parent, grade)
VALUES ($1, coalesce($2::integer, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Parent, 2: new_batch Grade
INSERT /* stepsq.EnqueueMany */ INTO steps
       (parent, grade)
SELECT parent_new, coalesce(grade_new, 0)
FROM   unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS job (parent_new, grade_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'run') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'off') AS failed,
       count(*) FILTER (WHERE state = 'run' AND since <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(since) FILTER (WHERE state = 'run')) AS oldest_running
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: steps_state (state)
SELECT /* stepsq.Backlog */
       count(*) AS ready
FROM   steps
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       id, parent, grade
FROM   steps
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stepsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stepsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('parent', 'bigint'),
               ('state', 'text'),
               ('since', 'timestamptz'),
               ('grade', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('steps')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* stepsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stepsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('steps_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('steps_state', 'state', 'state', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('steps')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY steps_ready ON steps (id NULLS FIRST)
WHERE  state = 'new';

-- serves Recover: rows that somebody has, which are few: steps_state serves already
