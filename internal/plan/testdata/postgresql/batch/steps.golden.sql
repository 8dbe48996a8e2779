-- Package stepsq uses the table steps as a queue of jobs on PostgreSQL 15 and later.
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
-- The fence is at level token: every claim adds a row to runs and leaves its run in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its run.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes runs (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
-- note: no order is said: rows are taken in the order of the key, shop, number
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (shop NULLS FIRST, number) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stepsq.Claim */
       shop, number
FROM   steps
WHERE  state = 'new'
ORDER  BY shop NULLS FIRST, number
LIMIT  $1;

-- sql/claim_batch.sql
-- claim: one row of runs for the rows that claim_pick.sql named; claim.sql then writes its run to them
-- locks: nothing that others wait for
-- index: none; it reads nothing
-- isolation: read committed
INSERT /* stepsq.Claim */ INTO runs
       (began)
VALUES (now())
RETURNING run;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: token Run, 2: batch Shop, 3: batch Number
UPDATE /* stepsq.Claim */ steps
SET    state = 'busy',
       run = $1
FROM   unnest($2::integer[], $3::integer[]) AS job (shop_picked, number_picked)
WHERE  shop = shop_picked
AND    number = number_picked
AND    CASE WHEN state = 'new' THEN true END
RETURNING shop, number, run;

-- sql/claim_batch_undo.sql
-- claim: deletes the row of runs again where others were quicker and claim.sql took none
-- locks: the row it deletes, until commit
-- index: the primary key of runs
-- isolation: read committed
-- arguments: 1: token Run
DELETE /* stepsq.Claim */ FROM runs
WHERE  run = $1;

-- sql/complete.sql
-- complete: running to done
-- fence: run as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Shop, 2: batch Number, 3: batch Run
UPDATE /* stepsq.Complete */ steps
SET    state = 'sent'
FROM   unnest($1::integer[], $2::integer[], $3::uuid[]) AS job (shop_held, number_held, run_held)
WHERE  shop = shop_held
AND    number = number_held
AND    CASE WHEN run = run_held
            AND    state = 'busy' THEN true END
RETURNING shop, number;

-- sql/retry.sql
-- retry: running to ready
-- fence: run as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Shop, 2: batch Number, 3: batch Run
UPDATE /* stepsq.Fail */ steps
SET    state = 'new',
       run = NULL
FROM   unnest($1::integer[], $2::integer[], $3::uuid[]) AS job (shop_held, number_held, run_held)
WHERE  shop = shop_held
AND    number = number_held
AND    CASE WHEN run = run_held
            AND    state = 'busy' THEN true END
RETURNING shop, number;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Shop, 2: batch Number, 3: batch Run
UPDATE /* stepsq.Requeue */ steps
SET    state = 'new',
       run = NULL
FROM   unnest($1::integer[], $2::integer[], $3::uuid[]) AS job (shop_held, number_held, run_held)
WHERE  shop = shop_held
AND    number = number_held
AND    CASE WHEN run = run_held
            AND    state = 'busy' THEN true END
RETURNING shop, number;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (shop, number) WHERE state = 'sent' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* stepsq.Purge */ picked AS MATERIALIZED (
    SELECT shop, number
    FROM   steps
    WHERE  state = 'sent'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM steps
USING  picked
WHERE  steps.shop = picked.shop
AND    steps.number = picked.number;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Shop, 2: new Number
INSERT /* stepsq.Enqueue */ INTO steps
       (shop, number, state)
VALUES ($1, $2, 'new')
RETURNING shop, number;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Shop, 2: new_batch Number
INSERT /* stepsq.EnqueueMany */ INTO steps
       (shop, number, state)
SELECT shop_new, number_new, 'new'
FROM   unnest($1::integer[], $2::integer[]) WITH ORDINALITY AS job (shop_new, number_new, job_order)
ORDER  BY job_order
RETURNING shop, number;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (shop NULLS FIRST, number) WHERE state = 'new'
SELECT /* stepsq.Backlog */
       count(*) AS ready
FROM   steps
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (shop NULLS FIRST, number) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       shop, number
FROM   steps
WHERE  state = 'new'
ORDER  BY shop NULLS FIRST, number
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
FROM   (VALUES ('shop', 'integer'),
               ('number', 'integer'),
               ('state', 'text'),
               ('run', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('steps')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of runs
-- locks: none
SELECT /* stepsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('run', 'uuid'),
               ('began', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
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
FROM   (VALUES ('steps_ready', 'shop nulls first, number', 'shop nulls first, number', 'state=''new''')) AS want (name, columns, least, predicate)
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
CREATE INDEX CONCURRENTLY steps_ready ON steps (shop NULLS FIRST, number)
WHERE  state = 'new';
