-- Package conversionsq uses the table conversions as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of all jobs of the queue, at most 4 run at once; of two claims that count what the other takes one is undone and made again. In a transaction of the caller's own that must be SERIALIZABLE. When as many run as may, Claim returns no jobs.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates conversions_ready and conversions_expired.
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
--   pop          it writes no running state, so the running rows of the queue cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim_room.sql
-- claim: how many more rows may run
-- locks: none
-- index: (until_at) WHERE state = 'busy'
SELECT /* conversionsq.Claim */
       4 - (
           SELECT count(*)
           FROM   conversions
           WHERE  state = 'busy'
       )
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END;

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (weight DESC, id) WHERE state = 'new'
-- arguments: 1: limit
UPDATE /* conversionsq.Claim */ conversions
SET    state = 'busy',
       until_at = now() + interval '5 minutes'
WHERE  state = 'new'
ORDER  BY weight DESC, id
LIMIT  $1
RETURNING id, until_at, weight;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* conversionsq.Complete */ conversions
SET    state = 'over',
       until_at = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* conversionsq.Fail */ conversions
SET    state = 'dead',
       until_at = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* conversionsq.Requeue */ conversions
SET    state = 'new',
       until_at = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* conversionsq.Extend */ conversions
SET    until_at = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id, until_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (until_at) WHERE state = 'busy'
-- arguments: 1: limit
UPDATE /* conversionsq.Recover */ conversions
SET    state = 'new',
       until_at = NULL
WHERE  state = 'busy'
AND    until_at <= now()
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* conversionsq.Redrive */ conversions
SET    state = 'new',
       until_at = NULL
WHERE  state = 'dead'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- arguments: 1: limit
DELETE /* conversionsq.Purge */ FROM conversions
WHERE  state = 'over'
LIMIT  $1;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- arguments: 1: limit
DELETE /* conversionsq.Purge */ FROM conversions
WHERE  state = 'dead'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Weight
INSERT /* conversionsq.Enqueue */ INTO conversions
       (weight)
VALUES (coalesce($1::bigint, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Weight
INSERT /* conversionsq.EnqueueMany */ INTO conversions
       (weight)
SELECT coalesce(weight_new, 0)
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (weight_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* conversionsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND until_at <= now()) AS expired
FROM   conversions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (weight DESC, id) WHERE state = 'new'
SELECT /* conversionsq.Backlog */
       count(*) AS ready
FROM   conversions
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (weight DESC, id) WHERE state = 'new'
-- arguments: 1: limit
SELECT /* conversionsq.Peek */
       id, weight
FROM   conversions
WHERE  state = 'new'
ORDER  BY weight DESC, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* conversionsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* conversionsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('until_at', 'timestamptz'),
               ('weight', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('conversions')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* conversionsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('conversions_ready'),
               ('conversions_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('conversions')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX conversions_ready ON conversions (weight DESC, id)
WHERE  state = 'new';

-- serves Recover: claims that ran out; it also serves Claim: counts the running rows
CREATE INDEX conversions_expired ON conversions (until_at)
WHERE  state = 'busy';
