-- Package stepsq uses the table steps as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: a row whose column "kind" is null is taken only by a claim for every topic; any=null lets it suit everyone
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in kind, target (unique index steps_once, of rows where state = 'new'): Fail or Requeue fails then, for all rows of the call, until one of the two is gone; a predicate that holds of running rows as well keeps such a row from being added

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (tenant, ready, no, kind, target) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param tenant int32, 2: param no *int32, 3: param kind *string, 4: param target []string, 5: limit
WITH /* stepsq.Claim */ picked AS MATERIALIZED (
    SELECT tenant, no
    FROM   steps
    WHERE  state = 'new'
    AND    ready <= now()
    AND    tenant = $1
    AND    ($2::integer IS NULL OR no = $2)
    AND    ($3::text IS NULL OR kind = $3)
    AND    ($4::text[] IS NULL OR target <> ALL ($4::text[]))
    ORDER  BY ready, tenant, no
    LIMIT  $5
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE steps
SET    state = 'busy'
FROM   picked
WHERE  steps.tenant = picked.tenant
AND    steps.no = picked.no
RETURNING steps.tenant, steps.no, steps.kind, steps.target, steps.ready;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (tenant, ready, no, kind, target) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param tenant int32, 2: param no *int32, 3: param kind *string, 4: param target []string
WITH /* stepsq.Claim */ picked AS MATERIALIZED (
    SELECT tenant, no
    FROM   steps
    WHERE  state = 'new'
    AND    ready <= now()
    AND    tenant = $1
    AND    ($2::integer IS NULL OR no = $2)
    AND    ($3::text IS NULL OR kind = $3)
    AND    ($4::text[] IS NULL OR target <> ALL ($4::text[]))
    ORDER  BY ready, tenant, no
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE steps
SET    state = 'busy'
FROM   picked
WHERE  steps.tenant = picked.tenant
AND    steps.no = picked.no
RETURNING steps.tenant, steps.no, steps.kind, steps.target, steps.ready;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (tenant, ready, no, kind, target) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param tenant int32, 2: param no *int32, 3: param kind *string, 4: param target []string
WITH /* stepsq.Claim */ picked AS MATERIALIZED (
    SELECT tenant, no
    FROM   steps
    WHERE  state = 'new'
    AND    ready <= now()
    AND    tenant = $1
    AND    ($2::integer IS NULL OR no = $2)
    AND    ($3::text IS NULL OR kind = $3)
    AND    ($4::text[] IS NULL OR target <> ALL ($4::text[]))
    ORDER  BY ready, tenant, no
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE steps
SET    state = 'busy'
FROM   picked
WHERE  steps.tenant = picked.tenant
AND    steps.no = picked.no
RETURNING steps.tenant, steps.no, steps.kind, steps.target, steps.ready;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch No
UPDATE /* stepsq.Complete */ steps
SET    state = 'over'
FROM   unnest($1::integer[], $2::integer[]) AS job (tenant_held, no_held)
WHERE  tenant = tenant_held
AND    no = no_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING tenant, no;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Tenant, 3: batch No
UPDATE /* stepsq.Fail */ steps
SET    ready = now() + make_interval(secs => $1),
       state = 'new'
FROM   unnest($2::integer[], $3::integer[]) AS job (tenant_held, no_held)
WHERE  tenant = tenant_held
AND    no = no_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING tenant, no;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Tenant, 3: batch No
UPDATE /* stepsq.Requeue */ steps
SET    ready = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE ready END,
       state = 'new'
FROM   unnest($2::integer[], $3::integer[]) AS job (tenant_held, no_held)
WHERE  tenant = tenant_held
AND    no = no_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING tenant, no;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (tenant, no) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* stepsq.Purge */ picked AS MATERIALIZED (
    SELECT tenant, no
    FROM   steps
    WHERE  state = 'over'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM steps
USING  picked
WHERE  steps.tenant = picked.tenant
AND    steps.no = picked.no;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Tenant, 2: new No, 3: new Kind, 4: new Target, 5: new Ready
INSERT /* stepsq.Enqueue */ INTO steps
       (tenant, no, kind, target, ready, state)
VALUES ($1, $2, $3, $4, coalesce($5::timestamptz, now()), 'new')
RETURNING tenant, no;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Tenant, 2: new_batch No, 3: new_batch Kind, 4: new_batch Target, 5: new_batch Ready
INSERT /* stepsq.EnqueueMany */ INTO steps
       (tenant, no, kind, target, ready, state)
SELECT tenant_new, no_new, kind_new, target_new, coalesce(ready_new, now()), 'new'
FROM   unnest($1::integer[], $2::integer[], $3::text[], $4::text[], $5::timestamptz[]) WITH ORDINALITY AS job (tenant_new, no_new, kind_new, target_new, ready_new, job_order)
ORDER  BY job_order
RETURNING tenant, no;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(*) FILTER (WHERE state = 'new' AND ready <= now()) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'new' AND ready > now()) AS delayed,
       extract(epoch FROM now() - min(ready) FILTER (WHERE state = 'new' AND ready <= now())) AS oldest_ready
FROM   steps;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same tenant, no, kind and target is for
-- locks: none
-- index: the primary key (tenant, no)
-- arguments: 1: param tenant int32, 2: param no *int32, 3: param kind *string, 4: param target []string
SELECT /* stepsq.StatsOf */
       count(*) FILTER (WHERE state = 'new' AND ready <= now()) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'new' AND ready > now()) AS delayed,
       extract(epoch FROM now() - min(ready) FILTER (WHERE state = 'new' AND ready <= now())) AS oldest_ready
FROM   steps
WHERE  tenant = $1
AND    ($2::integer IS NULL OR no = $2)
AND    ($3::text IS NULL OR kind = $3)
AND    ($4::text[] IS NULL OR target <> ALL ($4::text[]));

-- sql/backlog.sql
-- backlog: counts the rows that wait, by tenant and kind
-- locks: none
-- index: steps_once (kind, target) WHERE state = 'new'
SELECT /* stepsq.Backlog */
       tenant,
       kind,
       count(*) FILTER (WHERE ready <= now()) AS ready,
       count(*) FILTER (WHERE ready > now()) AS delayed,
       extract(epoch FROM now() - min(ready) FILTER (WHERE ready <= now())) AS oldest_ready
FROM   steps
WHERE  state = 'new'
GROUP  BY tenant, kind
ORDER  BY tenant, kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (tenant, ready, no, kind, target) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param tenant int32, 2: param no *int32, 3: param kind *string, 4: param target []string, 5: limit
SELECT /* stepsq.Peek */
       tenant, no, kind, target, ready
FROM   steps
WHERE  state = 'new'
AND    ready <= now()
AND    tenant = $1
AND    ($2::integer IS NULL OR no = $2)
AND    ($3::text IS NULL OR kind = $3)
AND    ($4::text[] IS NULL OR target <> ALL ($4::text[]))
ORDER  BY ready, tenant, no
LIMIT  $5;

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
FROM   (VALUES ('tenant', 'integer'),
               ('no', 'integer'),
               ('kind', 'text'),
               ('target', 'text'),
               ('ready', 'timestamptz'),
               ('state', 'text')) AS want (name, type)
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
FROM   (VALUES ('steps_ready', 'tenant, ready, no', 'tenant, ready, no', 'state=''new''')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows of another kind are passed over in it; rows of another target are passed over in it
CREATE INDEX CONCURRENTLY steps_ready ON steps (tenant, ready, no, kind, target)
WHERE  state = 'new';
