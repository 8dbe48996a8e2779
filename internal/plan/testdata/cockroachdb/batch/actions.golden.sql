-- Package actionsq uses the table actions as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: the row whose key is the token is added when jobs are found, and not before (from=companion), and ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level token: every claim adds a row to claims and leaves its id in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its id.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes claims (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates actions_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       from=companion adds a row between finding jobs and marking them
--   lease_table  from=companion adds a row between finding jobs and marking them
--   hold         from=companion adds a row between finding jobs and marking them
--   partition    from=companion adds a row between finding jobs and marking them
--   returning    from=companion adds a row between finding jobs and marking them
--   block        from=companion adds a row between finding jobs and marking them
--   token        from=companion adds a row between finding jobs and marking them
-- * lock_update  the row whose key is the token is added when jobs are found, and not before (from=companion), and ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     from=companion adds a row between finding jobs and marking them
--   guarded      not needed: lock_update comes first
--   pop          from=companion adds a row between finding jobs and marking them
-- note: no order is said: rows are taken in the order of the key, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'N'
-- arguments: 1: limit
SELECT /* actionsq.Claim */
       id
FROM   actions
WHERE  state = 'N'
ORDER  BY id
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/claim_batch.sql
-- claim: one row of claims for the rows that claim_lock.sql locked; claim.sql then writes its id to them
-- locks: nothing that others wait for
-- index: none; it reads nothing
INSERT /* actionsq.Claim */ INTO claims
       (made_at)
VALUES (now())
RETURNING id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- arguments: 1: token ClaimID, 2: batch ID
UPDATE /* actionsq.Claim */ actions
SET    state = 'A',
       claim_id = $1
WHERE  id = ANY ($2::uuid[])
RETURNING id, claim_id;

-- sql/complete.sql
-- complete: running to done
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch ClaimID
UPDATE /* actionsq.Complete */ actions
SET    state = 'D'
FROM   unnest($1::uuid[], $2::bigint[]) AS job (id_held, claim_id_held)
WHERE  id = id_held
AND    CASE WHEN claim_id = claim_id_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch ClaimID
UPDATE /* actionsq.Fail */ actions
SET    state = 'E'
FROM   unnest($1::uuid[], $2::bigint[]) AS job (id_held, claim_id_held)
WHERE  id = id_held
AND    CASE WHEN claim_id = claim_id_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch ClaimID
UPDATE /* actionsq.Requeue */ actions
SET    state = 'N',
       claim_id = 0
FROM   unnest($1::uuid[], $2::bigint[]) AS job (id_held, claim_id_held)
WHERE  id = id_held
AND    CASE WHEN claim_id = claim_id_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* actionsq.Redrive */ actions
SET    state = 'N',
       claim_id = 0
WHERE  state = 'E'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* actionsq.Purge */ FROM actions
WHERE  state = 'D'
LIMIT  $1;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'E' would find them
-- arguments: 1: limit
DELETE /* actionsq.Purge */ FROM actions
WHERE  state = 'E'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* actionsq.Enqueue */ INTO actions
       (id)
VALUES (coalesce($1::uuid, gen_random_uuid()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID
INSERT /* actionsq.EnqueueMany */ INTO actions
       (id)
SELECT coalesce(id_new, gen_random_uuid())
FROM   unnest($1::uuid[]) WITH ORDINALITY AS job (id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* actionsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed
FROM   actions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N'
SELECT /* actionsq.Backlog */
       count(*) AS ready
FROM   actions
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N'
-- arguments: 1: limit
SELECT /* actionsq.Peek */
       id, claim_id
FROM   actions
WHERE  state = 'N'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* actionsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* actionsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'uuid'),
               ('state', 'char'),
               ('claim_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('actions')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of claims
-- locks: none
SELECT /* actionsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('made_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('claims')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* actionsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('actions_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('actions')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX actions_ready ON actions (id)
WHERE  state = 'N';
