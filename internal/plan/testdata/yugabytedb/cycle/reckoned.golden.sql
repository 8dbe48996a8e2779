-- Package reckonedq uses the table reckoned as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> ready, due again
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- A job never ends: Complete makes it ready again, due after a time that the database works out of the row. Who wants one to end deletes its row.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates reckoned_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  a row of the queue is written when its job ends and not before, and with cycle no job ends
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: held ID, 2: limit
SELECT /* reckonedq.Claim */
       id, run_at, wait_s
FROM   reckoned
WHERE  run_at <= floor(extract(epoch FROM now()))::bigint
AND    id <> ALL ($1::bigint[])
ORDER  BY run_at, id
LIMIT  $2
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* reckonedq.Complete */ reckoned
SET    run_at = floor(extract(epoch FROM statement_timestamp()) + (reckoned.wait_s * 2))::bigint
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN run_at <= floor(extract(epoch FROM now()))::bigint THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* reckonedq.Fail */ reckoned
SET    run_at = floor(extract(epoch FROM statement_timestamp()) + $1)::bigint
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN run_at <= floor(extract(epoch FROM now()))::bigint THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* reckonedq.Requeue */ reckoned
SET    run_at = CASE WHEN $1 > 0.0 THEN floor(extract(epoch FROM statement_timestamp()) + $1)::bigint ELSE run_at END
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN run_at <= floor(extract(epoch FROM now()))::bigint THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new WaitS
INSERT /* reckonedq.Enqueue */ INTO reckoned
       (run_at, wait_s)
VALUES (coalesce($1::bigint, floor(extract(epoch FROM now()))::bigint),
        coalesce($2::integer, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RunAt, 2: new_batch WaitS
INSERT /* reckonedq.EnqueueMany */ INTO reckoned
       (run_at, wait_s)
SELECT coalesce(run_at_new, floor(extract(epoch FROM now()))::bigint),
       coalesce(wait_s_new, 60)
FROM   unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS job (run_at_new, wait_s_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* reckonedq.Stats */
       count(*) FILTER (WHERE run_at <= floor(extract(epoch FROM now()))::bigint) AS ready,
       count(*) FILTER (WHERE run_at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(run_at) FILTER (WHERE run_at <= floor(extract(epoch FROM now()))::bigint)) AS oldest_ready
FROM   reckoned;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (run_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* reckonedq.Peek */
       id, run_at, wait_s
FROM   reckoned
WHERE  run_at <= floor(extract(epoch FROM now()))::bigint
ORDER  BY run_at, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* reckonedq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* reckonedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('run_at', 'bigint'),
               ('wait_s', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('reckoned')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* reckonedq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* reckonedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('reckoned_ready', 'run_at, id', 'run_at, id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('reckoned')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX reckoned_ready ON reckoned (run_at ASC, id ASC);
