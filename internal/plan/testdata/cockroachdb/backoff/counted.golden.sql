-- Package countedq uses the table counted as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates counted_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     CockroachDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id, run_at) WHERE state = 'N' AND tries > 0
-- arguments: 1: low, 2: limit
UPDATE /* countedq.Claim */ counted
SET    state = 'A'
WHERE  state = 'N'
AND    run_at <= floor(extract(epoch FROM now()))::bigint
AND    tries > 0
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, tries, run_at, wait_m;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* countedq.Complete */ counted
SET    state = 'D'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* countedq.Fail */ counted
SET    state = 'N',
       tries = tries - 1,
       run_at = floor(extract(epoch FROM now()) + ((counted.wait_m * (3 - tries + 1)) * 60))::bigint
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* countedq.Fail */ counted
SET    state = 'E',
       tries = 0
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID
UPDATE /* countedq.Requeue */ counted
SET    state = 'N',
       run_at = CASE WHEN $1 > 0.0 THEN floor(extract(epoch FROM now()) + $1)::bigint ELSE run_at END
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN state = 'A' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* countedq.Redrive */ counted
SET    state = 'N',
       tries = 3
WHERE  state = 'E'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* countedq.Purge */ FROM counted
WHERE  state = 'D'
LIMIT  $1;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'E' would find them
-- arguments: 1: limit
DELETE /* countedq.Purge */ FROM counted
WHERE  state = 'E'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new WaitM
INSERT /* countedq.Enqueue */ INTO counted
       (run_at, wait_m)
VALUES (coalesce($1::bigint, floor(extract(epoch FROM now()))::bigint),
        coalesce($2::bigint, 1))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RunAt, 2: new_batch WaitM
INSERT /* countedq.EnqueueMany */ INTO counted
       (run_at, wait_m)
SELECT coalesce(run_at_new, floor(extract(epoch FROM now()))::bigint),
       coalesce(wait_m_new, 1)
FROM   unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS job (run_at_new, wait_m_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* countedq.Stats */
       count(*) FILTER (WHERE state = 'N' AND run_at <= floor(extract(epoch FROM now()))::bigint AND tries > 0) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'N' AND tries > 0 AND run_at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(run_at) FILTER (WHERE state = 'N' AND run_at <= floor(extract(epoch FROM now()))::bigint AND tries > 0)) AS oldest_ready
FROM   counted;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_at) WHERE state = 'N' AND tries > 0
SELECT /* countedq.Backlog */
       count(*) FILTER (WHERE run_at <= floor(extract(epoch FROM now()))::bigint) AS ready,
       count(*) FILTER (WHERE run_at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(run_at) FILTER (WHERE run_at <= floor(extract(epoch FROM now()))::bigint)) AS oldest_ready
FROM   counted
WHERE  state = 'N'
AND    tries > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_at) WHERE state = 'N' AND tries > 0
-- arguments: 1: limit
SELECT /* countedq.Peek */
       id, tries, run_at, wait_m
FROM   counted
WHERE  state = 'N'
AND    run_at <= floor(extract(epoch FROM now()))::bigint
AND    tries > 0
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* countedq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* countedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('tries', 'bigint'),
               ('run_at', 'bigint'),
               ('wait_m', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('counted')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* countedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('counted_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('counted')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX counted_ready ON counted (id, run_at)
WHERE  state = 'N'
AND    tries > 0;
