-- Package naturalq uses the table natural_order as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates natural_order_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: rows without a value in column "prio" stand last in the order, where CockroachDB puts nulls (nulls=first puts them first)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (prio DESC, id) WHERE st = 'new'
-- arguments: 1: limit
UPDATE /* naturalq.Claim */ natural_order
SET    st = 'busy'
WHERE  st = 'new'
ORDER  BY prio DESC, id
LIMIT  $1
RETURNING id, prio;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* naturalq.Complete */ natural_order
SET    st = 'done'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN st = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* naturalq.Fail */ natural_order
SET    st = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN st = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* naturalq.Requeue */ natural_order
SET    st = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN st = 'busy' THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE st = 'done' would find them
-- arguments: 1: limit
DELETE /* naturalq.Purge */ FROM natural_order
WHERE  st = 'done'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Prio
INSERT /* naturalq.Enqueue */ INTO natural_order
       (id, prio)
VALUES (coalesce($1::bigint, unique_rowid()), $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Prio
INSERT /* naturalq.EnqueueMany */ INTO natural_order
       (id, prio)
SELECT coalesce(id_new, unique_rowid()), prio_new
FROM   unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS job (id_new, prio_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* naturalq.Stats */
       count(*) FILTER (WHERE st = 'new') AS ready,
       count(*) FILTER (WHERE st = 'busy') AS running,
       count(*) FILTER (WHERE st = 'done') AS done
FROM   natural_order;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (prio DESC, id) WHERE st = 'new'
SELECT /* naturalq.Backlog */
       count(*) AS ready
FROM   natural_order
WHERE  st = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (prio DESC, id) WHERE st = 'new'
-- arguments: 1: limit
SELECT /* naturalq.Peek */
       id, prio
FROM   natural_order
WHERE  st = 'new'
ORDER  BY prio DESC, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* naturalq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* naturalq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('st', 'text'),
               ('prio', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('natural_order')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* naturalq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('natural_order_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('natural_order')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX natural_order_ready ON natural_order (prio DESC, id)
WHERE  st = 'new';
