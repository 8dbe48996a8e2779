-- Package tasksq uses the table tasks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until Recover, which goes by the workers that are alive, makes them ready again.
--
-- Who claims is told by an id of the table machines: every worker says its own with WithWorker.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: column owner_id holds an id of machines, so every worker needs WithWorker: what claims record without it is no id of that table

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (posted, id) WHERE owner_id IS NULL
-- isolation: read committed
-- arguments: 1: worker OwnerID, 2: limit
UPDATE /* tasksq.Claim */ tasks
SET    owner_id = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  owner_id IS NULL
           ORDER  BY posted, id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner_id, name, posted;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (posted, id) WHERE owner_id IS NULL
-- isolation: read committed
-- arguments: 1: worker OwnerID
UPDATE /* tasksq.Claim */ tasks
SET    owner_id = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  owner_id IS NULL
           ORDER  BY posted, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner_id, name, posted;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (posted, id) WHERE owner_id IS NULL
-- isolation: read committed
-- arguments: 1: worker OwnerID
UPDATE /* tasksq.Claim */ tasks
SET    owner_id = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  owner_id IS NULL
           ORDER  BY posted, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner_id, name, posted;

-- sql/complete.sql
-- complete: running to done
-- fence: owner_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch OwnerID
DELETE /* tasksq.Complete */ FROM tasks
USING  unnest($1::integer[], $2::integer[]) AS job (id_held, owner_id_held)
WHERE  id = id_held
AND    CASE WHEN owner_id = owner_id_held
            AND    owner_id IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: owner_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch OwnerID
UPDATE /* tasksq.Fail */ tasks
SET    owner_id = NULL
FROM   unnest($1::integer[], $2::integer[]) AS job (id_held, owner_id_held)
WHERE  id = id_held
AND    CASE WHEN owner_id = owner_id_held
            AND    owner_id IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: owner_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch OwnerID
UPDATE /* tasksq.Requeue */ tasks
SET    owner_id = NULL
FROM   unnest($1::integer[], $2::integer[]) AS job (id_held, owner_id_held)
WHERE  id = id_held
AND    CASE WHEN owner_id = owner_id_held
            AND    owner_id IS NOT NULL THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (owner_id) WHERE owner_id IS NOT NULL
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    owner_id = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  owner_id IS NOT NULL
           AND    (owner_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM machines worker_row WHERE worker_row.id = tasks.owner_id AND worker_row.seen > now() - interval '10 minutes'))
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Name, 2: new Posted
INSERT /* tasksq.Enqueue */ INTO tasks
       (name, posted)
VALUES ($1, coalesce($2::timestamptz, now()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Name, 2: new_batch Posted
INSERT /* tasksq.EnqueueMany */ INTO tasks
       (name, posted)
SELECT name_new, coalesce(posted_new, now())
FROM   unnest($1::text[], $2::timestamptz[]) WITH ORDINALITY AS job (name_new, posted_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE owner_id IS NULL) AS ready,
       count(*) FILTER (WHERE owner_id IS NOT NULL) AS running,
       count(*) FILTER (WHERE owner_id IS NOT NULL AND (owner_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM machines worker_row WHERE worker_row.id = tasks.owner_id AND worker_row.seen > now() - interval '10 minutes'))) AS expired
FROM   tasks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (posted, id) WHERE owner_id IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, name, posted
FROM   tasks
WHERE  owner_id IS NULL
ORDER  BY posted, id
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
FROM   (VALUES ('id', 'integer'),
               ('owner_id', 'integer'),
               ('name', 'text'),
               ('posted', 'timestamptz')) AS want (name, type)
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
FROM   (VALUES ('tasks_ready', 'posted, id', 'posted, id', 'owner_idisnull'),
               ('tasks_expired', 'owner_id', 'owner_id', 'owner_idisnotnull')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY tasks_ready ON tasks (posted, id)
WHERE  owner_id IS NULL;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY tasks_expired ON tasks (owner_id)
WHERE  owner_id IS NOT NULL;
