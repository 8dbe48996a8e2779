-- Package settledq uses the table exports as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of all jobs of the queue, at most as many run at once as this says: select max_jobs from settings where id = 1; of two claims that count what the other takes one is undone and made again. In a transaction of the caller's own that must be SERIALIZABLE. When as many run as may, Claim returns no jobs.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates exports_settled_ready and exports_settled_expired.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim_room.sql
-- claim: how many more rows may run
-- locks: none
-- index: (taken_at) WHERE state = 'busy'
SELECT /* settledq.Claim */
       coalesce((select max_jobs from settings where id = 1), 0) - (
           SELECT count(*)
           FROM   exports
           WHERE  state = 'busy'
       )
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END;

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE state = 'new'
-- arguments: 1: limit
UPDATE /* settledq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = now()
WHERE  state = 'new'
ORDER  BY id
LIMIT  $1
RETURNING id, site_id, tries, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* settledq.Complete */ exports
SET    state = 'over'
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* settledq.Fail */ exports
SET    state = 'new',
       taken_at = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* settledq.Fail */ exports
SET    state = 'dead'
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* settledq.Requeue */ exports
SET    state = 'new',
       tries = tries - 1,
       taken_at = NULL
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* settledq.Extend */ exports
SET    taken_at = now()
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (taken_at) WHERE state = 'busy'
-- arguments: 1: limit
UPDATE /* settledq.Recover */ exports
SET    state = 'new',
       taken_at = NULL
WHERE  state = 'busy'
AND    tries < 3
AND    taken_at <= now() - interval '10 minutes'
LIMIT  $1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (taken_at) WHERE state = 'busy'
-- arguments: 1: limit
UPDATE /* settledq.Recover */ exports
SET    state = 'dead'
WHERE  state = 'busy'
AND    tries >= 3
AND    taken_at <= now() - interval '10 minutes'
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* settledq.Redrive */ exports
SET    state = 'new',
       tries = 0,
       taken_at = NULL
WHERE  state = 'dead'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'over' would find them
-- arguments: 1: older, 2: limit
DELETE /* settledq.Purge */ FROM exports
WHERE  state = 'over'
AND    taken_at <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'dead' would find them
-- arguments: 1: older, 2: limit
DELETE /* settledq.Purge */ FROM exports
WHERE  state = 'dead'
AND    taken_at <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new SiteID
INSERT /* settledq.Enqueue */ INTO exports
       (site_id)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch SiteID
INSERT /* settledq.EnqueueMany */ INTO exports
       (site_id)
SELECT site_id_new
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (site_id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* settledq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND taken_at <= now() - interval '10 minutes') AS expired,
       extract(epoch FROM now() - min(taken_at) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   exports;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* settledq.Backlog */
       count(*) AS ready
FROM   exports
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'
-- arguments: 1: limit
SELECT /* settledq.Peek */
       id, site_id, tries
FROM   exports
WHERE  state = 'new'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* settledq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* settledq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('site_id', 'bigint'),
               ('state', 'text'),
               ('tries', 'bigint'),
               ('taken_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('exports')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* settledq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('exports_settled_ready'),
               ('exports_settled_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('exports')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX exports_settled_ready ON exports (id)
WHERE  state = 'new';

-- serves Recover: claims that ran out; it also serves Claim: counts the running rows
CREATE INDEX exports_settled_expired ON exports (taken_at)
WHERE  state = 'busy';
