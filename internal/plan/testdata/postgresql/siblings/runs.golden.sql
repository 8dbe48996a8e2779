-- Package runsq uses the table runs as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
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
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no column says when a claim in column "taken" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: on giveup, column "state" gets 'lost' as qgen:on says, not 'failed' as qgen:status would
-- note: no order is said: rows are taken in the order of the key, id
-- note: also: done writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: warning: also: drop reads runs while the rows are there still that the step takes away: leave out the row of the job itself, and call it with one job at a time, since of several each finds the others; two calls at once do not see what the other is writing: an update before it, of a row of a table that their jobs share, has them follow one another
-- note: also: giveup writes orders behind the rows of runs, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, order_id, taken;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, order_id, taken;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, order_id, taken;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
SELECT /* runsq.Complete */
       id
FROM   runs,
       unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF runs;

-- sql/complete.sql
-- complete: running to done
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* runsq.Complete */ runs
SET    state = 'done'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/complete_update_orders_lock.sql
-- complete: locks the rows of orders that complete_update_orders.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of orders, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* runsq.Complete */ 1
FROM   orders,
       runs AS held
WHERE  held.id = ANY ($1::bigint[])
AND    orders.id = held.order_id
ORDER  BY orders.id
FOR    NO KEY UPDATE OF orders;

-- sql/complete_update_orders.sql
-- complete: updates rows of orders for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* runsq.Complete */ orders
SET    state = (case when exists (select 1 from runs o where o.order_id = held.order_id and o.state in ('new', 'busy')) then 'open' else 'closed' end)
FROM   runs AS held
WHERE  held.id = ANY ($1::bigint[])
AND    orders.id = held.order_id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
SELECT /* runsq.Fail */
       id
FROM   runs,
       unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF runs;

-- sql/fail_update_orders.sql
-- fail: updates rows of orders for the rows that fail_lock.sql locked, before fail.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* runsq.Fail */ orders
SET    failed = (orders.failed + shared.jobs)
FROM   (
           SELECT held.order_id AS of_id,
                  count(*) AS jobs
           FROM   runs AS held,
                  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
           WHERE  held.id = id_held
           AND    CASE WHEN held.taken = taken_held THEN true END
           GROUP  BY held.order_id
       ) AS shared
WHERE  orders.id = shared.of_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* runsq.Fail */ runs
SET    state = 'failed'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail_update_orders_2.sql
-- fail: updates rows of orders for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* runsq.Fail */ orders
SET    state = (case when exists (select 1 from runs o where o.order_id = orders.id and o.state in ('new', 'busy')) then 'open' else 'closed' end)
FROM   runs AS held
WHERE  held.id = ANY ($1::bigint[])
AND    orders.id = held.order_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* runsq.Requeue */ runs
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
UPDATE /* runsq.Extend */ runs
SET    taken = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id, taken;

-- sql/outcome_drop_lock.sql
-- outcome_drop: locks the rows of jobs whose claims are still theirs, which outcome_drop.sql then writes
-- fence: taken as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
SELECT /* runsq.Drop */
       id
FROM   runs,
       unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
FOR    UPDATE OF runs;

-- sql/outcome_drop_insert_ended.sql
-- outcome_drop: inserts rows into ended for the rows that outcome_drop_lock.sql locked, before outcome_drop.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
INSERT /* runsq.Drop */ INTO ended
       (order_id)
SELECT held.order_id
FROM   runs AS held,
       unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  held.id = id_held
AND    CASE WHEN held.taken = taken_held
            AND    (not exists (select 1 from runs o where o.order_id = held.order_id and o.id <> held.id)) THEN true END;

-- sql/outcome_drop.sql
-- outcome_drop: running to deleted
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
DELETE /* runsq.Drop */ FROM runs
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (taken) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
SELECT /* runsq.Recover */
       id
FROM   runs
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
UPDATE /* runsq.Recover */ runs
SET    state = 'lost'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/recover_failed_update_orders_lock.sql
-- recover_failed: locks the rows of orders that recover_failed_update_orders.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of orders, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* runsq.Recover */ 1
FROM   orders,
       runs AS held
WHERE  held.id = ANY ($1::bigint[])
AND    orders.id = held.order_id
ORDER  BY orders.id
FOR    NO KEY UPDATE OF orders;

-- sql/recover_failed_update_orders.sql
-- recover_failed: updates rows of orders for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of orders one that begins with id
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* runsq.Recover */ orders
SET    state = (case when exists (select 1 from runs o where o.order_id = held.order_id and o.state in ('new', 'busy')) then 'open' else 'lost' end)
FROM   runs AS held
WHERE  held.id = ANY ($1::bigint[])
AND    orders.id = held.order_id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'new',
       taken = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state IN ('failed', 'lost')
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'done'
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state IN ('failed', 'lost') would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state IN ('failed', 'lost')
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new OrderID
INSERT /* runsq.Enqueue */ INTO runs
       (id, order_id)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch OrderID
INSERT /* runsq.EnqueueMany */ INTO runs
       (id, order_id)
SELECT id_new, order_id_new
FROM   unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS job (id_new, order_id_new, job_order)
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
       count(*) FILTER (WHERE state = 'busy' AND taken <= now() - make_interval(secs => $1)) AS expired,
       extract(epoch FROM now() - min(taken) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* runsq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, order_id
FROM   runs
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('order_id', 'bigint'),
               ('state', 'text'),
               ('taken', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of orders
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('state', 'text'),
               ('id', 'bigint'),
               ('failed', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('orders')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also2.sql
-- verify: columns of ended
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('order_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('ended')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* runsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('runs_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('runs_expired', 'taken', 'taken', 'state=''busy''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('runs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY runs_ready ON runs (id NULLS FIRST)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY runs_expired ON runs (taken)
WHERE  state = 'busy';
