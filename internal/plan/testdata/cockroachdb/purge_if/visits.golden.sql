-- Package visitsq uses the table visits as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	purge_if --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates visits_ready.
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
-- note: warning: purge_if names no column that tells which rows run, so Purge removes such rows, too, and whoever works on one of them gets ErrLost; and not (sent = 2) leaves them out
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE sent = 0
-- arguments: 1: param days int, 2: param host string, 3: param pattern string, 4: param all bool, 5: param owner string, 6: param least int, 7: param most int, 8: param size int, 9: param textValue string, 10: limit
UPDATE /* visitsq.Claim */ visits
SET    sent = 2
WHERE  sent = 0
AND    (made > current_date - $1::integer and (lower(host) = lower($2::text) or visits.host like $3 or $4))
AND    (owner = $5 and (size between $6 and $7 or ($8) <> size or size in (-1, $6) or size < cast($9 as integer)))
ORDER  BY id
LIMIT  $10
RETURNING id, made, host, owner, size;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* visitsq.Complete */ visits
SET    sent = 1
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = 2 THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* visitsq.Fail */ visits
SET    sent = 0
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = 2 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* visitsq.Requeue */ visits
SET    sent = 0
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = 2 THEN true END
RETURNING id;

-- sql/purge.sql
-- purge: rows for which purge_if holds, to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: whichever finds the rows of purge_if
-- arguments: 1: param days int, 2: param longer int, 3: param hours int32, 4: limit
DELETE /* visitsq.Purge */ FROM visits
WHERE  (made < current_date - $1::integer or made < current_date - $2::smallint or $3::integer * interval '1 hour' < now() - made)
LIMIT  $4;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Host, 2: new Owner, 3: new Size
INSERT /* visitsq.Enqueue */ INTO visits
       (made, host, owner, size)
VALUES (now(), $1, $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Host, 2: new_batch Owner, 3: new_batch Size
INSERT /* visitsq.EnqueueMany */ INTO visits
       (made, host, owner, size)
SELECT now(), host_new, owner_new, size_new
FROM   unnest($1::text[], $2::uuid[], $3::bigint[]) WITH ORDINALITY AS job (host_new, owner_new, size_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* visitsq.Stats */
       count(*) FILTER (WHERE sent = 0) AS ready,
       count(*) FILTER (WHERE sent = 2) AS running,
       count(*) FILTER (WHERE sent = 1) AS done,
       extract(epoch FROM now() - min(made) FILTER (WHERE sent = 0)) AS oldest_ready
FROM   visits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE sent = 0
SELECT /* visitsq.Backlog */
       count(*) AS ready,
       extract(epoch FROM now() - min(made)) AS oldest_ready
FROM   visits
WHERE  sent = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE sent = 0
-- arguments: 1: param days int, 2: param host string, 3: param pattern string, 4: param all bool, 5: param owner string, 6: param least int, 7: param most int, 8: param size int, 9: param textValue string, 10: limit
SELECT /* visitsq.Peek */
       id, made, host, owner, size
FROM   visits
WHERE  sent = 0
AND    (made > current_date - $1::integer and (lower(host) = lower($2::text) or visits.host like $3 or $4))
AND    (owner = $5 and (size between $6 and $7 or ($8) <> size or size in (-1, $6) or size < cast($9 as integer)))
ORDER  BY id
LIMIT  $10;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* visitsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* visitsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('made', 'timestamptz'),
               ('host', 'text'),
               ('owner', 'uuid'),
               ('size', 'bigint'),
               ('sent', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('visits')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* visitsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('visits_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('visits')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX visits_ready ON visits (id)
WHERE  sent = 0;
