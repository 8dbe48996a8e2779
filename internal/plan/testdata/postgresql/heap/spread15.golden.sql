-- Package spread15q uses the table spread as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> failed
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  rows have no key by which a side table could name them
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken in any order: nothing orders them
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: held RowTable, 2: held RowID, 3: limit
SELECT /* spread15q.Claim */
       tableoid, ctid, day, line
FROM   spread
WHERE  state = 0
AND    (tableoid, ctid) NOT IN (SELECT tableoid_held, ctid_held FROM unnest($1::oid[], $2::tid[]) AS job (tableoid_held, ctid_held))
LIMIT  $3
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch RowTable, 2: batch RowID
UPDATE /* spread15q.Complete */ spread
SET    state = 1
FROM   unnest($1::oid[], $2::tid[]) AS job (tableoid_held, ctid_held)
WHERE  tableoid = tableoid_held
AND    ctid = ctid_held
AND    CASE WHEN state = 0 THEN true END
RETURNING tableoid_held, ctid_held;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch RowTable, 2: batch RowID
UPDATE /* spread15q.Fail */ spread
SET    state = 2
FROM   unnest($1::oid[], $2::tid[]) AS job (tableoid_held, ctid_held)
WHERE  tableoid = tableoid_held
AND    ctid = ctid_held
AND    CASE WHEN state = 0 THEN true END
RETURNING tableoid_held, ctid_held;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* spread15q.Redrive */ picked AS MATERIALIZED (
    SELECT tableoid AS picked_table, ctid AS picked_row
    FROM   spread
    WHERE  state = 2
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE spread
SET    state = 0
FROM   picked
WHERE  spread.tableoid = picked.picked_table
AND    spread.ctid = picked.picked_row;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* spread15q.Purge */ picked AS MATERIALIZED (
    SELECT tableoid AS picked_table, ctid AS picked_row
    FROM   spread
    WHERE  state = 1
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM spread
USING  picked
WHERE  spread.tableoid = picked.picked_table
AND    spread.ctid = picked.picked_row;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* spread15q.Purge */ picked AS MATERIALIZED (
    SELECT tableoid AS picked_table, ctid AS picked_row
    FROM   spread
    WHERE  state = 2
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM spread
USING  picked
WHERE  spread.tableoid = picked.picked_table
AND    spread.ctid = picked.picked_row;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Day, 2: new Line
INSERT /* spread15q.Enqueue */ INTO spread
       (day, line)
VALUES ($1, $2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Day, 2: new_batch Line
INSERT /* spread15q.EnqueueMany */ INTO spread
       (day, line)
SELECT day_new, line_new
FROM   unnest($1::date[], $2::text[]) WITH ORDINALITY AS job (day_new, line_new, job_order)
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* spread15q.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS done,
       count(*) FILTER (WHERE state = 2) AS failed
FROM   spread;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* spread15q.Backlog */
       count(*) AS ready
FROM   spread
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
SELECT /* spread15q.Peek */
       tableoid, ctid, day, line
FROM   spread
WHERE  state = 0
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* spread15q.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* spread15q.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('day', 'date'),
               ('line', 'text'),
               ('state', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('spread')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* spread15q.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';
