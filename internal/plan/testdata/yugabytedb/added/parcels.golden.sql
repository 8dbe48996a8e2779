-- Package parcelsq uses the table parcels as a queue of jobs on YugabyteDB 2024.2 and later.
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
-- Besides the queue's own rows it writes journal (Enqueue, Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parcels_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     YugabyteDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, depot, code
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (depot, code) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
WITH /* parcelsq.Claim */ picked AS (
    SELECT depot, code
    FROM   parcels
    WHERE  state = 'new'
    ORDER  BY depot, code
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE parcels
SET    state = 'busy'
FROM   picked
WHERE  parcels.depot = picked.depot
AND    parcels.code = picked.code
RETURNING parcels.depot, parcels.code;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (depot, code) WHERE state = 'new'
-- isolation: read committed
WITH /* parcelsq.Claim */ picked AS (
    SELECT depot, code
    FROM   parcels
    WHERE  state = 'new'
    ORDER  BY depot, code
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE parcels
SET    state = 'busy'
FROM   picked
WHERE  parcels.depot = picked.depot
AND    parcels.code = picked.code
RETURNING parcels.depot, parcels.code;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (depot, code) WHERE state = 'new'
-- isolation: read committed
WITH /* parcelsq.Claim */ picked AS (
    SELECT depot, code
    FROM   parcels
    WHERE  state = 'new'
    ORDER  BY depot, code
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE parcels
SET    state = 'busy'
FROM   picked
WHERE  parcels.depot = picked.depot
AND    parcels.code = picked.code
RETURNING parcels.depot, parcels.code;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Depot, 2: batch Code
UPDATE /* parcelsq.Complete */ parcels
SET    state = 'sent'
FROM   unnest($1::integer[], $2::varchar[]) AS job (depot_held, code_held)
WHERE  depot = depot_held
AND    code = code_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING depot, code;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Depot, 2: batch Code
UPDATE /* parcelsq.Fail */ parcels
SET    state = 'new'
FROM   unnest($1::integer[], $2::varchar[]) AS job (depot_held, code_held)
WHERE  depot = depot_held
AND    code = code_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING depot, code;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Depot, 2: batch Code
UPDATE /* parcelsq.Requeue */ parcels
SET    state = 'new'
FROM   unnest($1::integer[], $2::varchar[]) AS job (depot_held, code_held)
WHERE  depot = depot_held
AND    code = code_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING depot, code;

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (depot, code) WHERE state = 'sent' would find them
-- isolation: read committed
-- arguments: 1: limit
SELECT /* parcelsq.Purge */
       depot, code
FROM   parcels
WHERE  state = 'sent'
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/purge_done_delete_journal.sql
-- purge_done: deletes rows from journal for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key; of journal one that begins with what, id
-- isolation: read committed
-- arguments: 1: batch Depot, 2: batch Code
DELETE /* parcelsq.Purge */ FROM journal
USING  parcels AS held,
       unnest($1::integer[], $2::varchar[]) AS job (depot_held, code_held)
WHERE  held.depot = depot_held
AND    held.code = code_held
AND    journal.what = held.code
AND    journal.id = held.depot;

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Depot, 2: batch Code
DELETE /* parcelsq.Purge */ FROM parcels
USING  unnest($1::integer[], $2::varchar[]) AS job (depot_held, code_held)
WHERE  depot = depot_held
AND    code = code_held
AND    CASE WHEN state = 'sent' THEN true END
RETURNING depot, code;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Depot, 2: new Code
INSERT /* parcelsq.Enqueue */ INTO parcels
       (depot, code)
VALUES ($1, $2)
RETURNING depot, code;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Depot, 2: new_batch Code
INSERT /* parcelsq.EnqueueMany */ INTO parcels
       (depot, code)
SELECT depot_new, code_new
FROM   unnest($1::integer[], $2::varchar[]) WITH ORDINALITY AS job (depot_new, code_new, job_order)
ORDER  BY job_order
RETURNING depot, code;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Depot, 2: batch Code
INSERT /* parcelsq.Enqueue */ INTO journal
       (what, id, address)
SELECT held.code, held.depot, held.state
FROM   parcels AS held,
       unnest($1::integer[], $2::varchar[]) AS job (depot_held, code_held)
WHERE  held.depot = depot_held
AND    held.code = code_held;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* parcelsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done
FROM   parcels;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (depot, code) WHERE state = 'new'
SELECT /* parcelsq.Backlog */
       count(*) AS ready
FROM   parcels
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (depot, code) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* parcelsq.Peek */
       depot, code
FROM   parcels
WHERE  state = 'new'
ORDER  BY depot, code
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* parcelsq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* parcelsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('depot', 'integer'),
               ('code', 'varchar'),
               ('state', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('parcels')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* parcelsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('what', 'varchar'),
               ('id', 'bigint'),
               ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('journal')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* parcelsq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* parcelsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('parcels_ready', 'depot, code', 'depot, code', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('parcels')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX parcels_ready ON parcels (depot ASC, code ASC)
WHERE  state = 'new';
