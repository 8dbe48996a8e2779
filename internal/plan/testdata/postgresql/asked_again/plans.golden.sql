-- Package plansq uses the table plans as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready or not, by what it writes to run_at
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- Besides the queue's own rows it writes plan_runs (Claim), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates plans_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* plansq.Claim */
       id
FROM   plans
WHERE  run_at <= now()
AND    (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'))
ORDER  BY run_at, id
LIMIT  $1
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/claim_again.sql
-- claim: those of the rows that are ready still, as claims before it have left other tables
-- locks: the rows it returns, which claim_lock.sql has locked
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* plansq.Claim */
       id
FROM   plans
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running')) THEN true END
FOR    NO KEY UPDATE OF plans;

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay; run_at tells whether they are ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* plansq.Claim */ plans
SET    run_at = (run_at - interval '1' second)
WHERE  id = ANY ($1::bigint[])
RETURNING id, name, run_at;

-- sql/claim_insert_plan_runs.sql
-- claim: inserts rows into plan_runs for the rows that claim_lock.sql locked, before claim.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* plansq.Claim */ INTO plan_runs
       (plan_id, state)
SELECT held.id, 'running'
FROM   plans AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Name, 3: new RunAt
INSERT /* plansq.Enqueue */ INTO plans
       (id, name, run_at)
VALUES ($1, $2, coalesce($3::timestamptz, now()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due and the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Name, 3: new_batch RunAt
INSERT /* plansq.EnqueueMany */ INTO plans
       (id, name, run_at)
SELECT id_new, name_new, coalesce(run_at_new, now())
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS job (id_new, name_new, run_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* plansq.Stats */
       count(*) FILTER (WHERE run_at <= now() AND (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'))) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE run_at <= now() AND (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running')))) AS oldest_ready
FROM   plans;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* plansq.Peek */
       id, name, run_at
FROM   plans
WHERE  run_at <= now()
AND    (not exists (select 1 from plan_runs r where r.plan_id = plans.id and r.state = 'running'))
ORDER  BY run_at, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* plansq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* plansq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('name', 'text'),
               ('run_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('plans')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of plan_runs
-- locks: none
SELECT /* plansq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('plan_id', 'bigint'),
               ('state', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('plan_runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* plansq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* plansq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('plans_ready', 'run_at, id', 'run_at, id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('plans')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
CREATE INDEX CONCURRENTLY plans_ready ON plans (run_at, id);
