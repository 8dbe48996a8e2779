-- Package everyq uses the table every as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- A job never ends: Complete makes it ready again, due after the time that the row has in every. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates every_ready and every_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE state = 'N' AND tries > 0
-- arguments: 1: limit
UPDATE /* everyq.Claim */ every
SET    state = 'A',
       till = now() + interval '5 minutes'
WHERE  state = 'N'
AND    tries > 0
AND    (run_at <= now() OR run_at IS NULL)
ORDER  BY id
LIMIT  $1
RETURNING id, run_at, till, tries, every;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* everyq.Complete */ every
SET    state = 'N',
       run_at = now() + every * 60::float8 * interval '1 second',
       till = NULL,
       tries = 3,
       ran_at = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch Till
UPDATE /* everyq.Fail */ every
SET    state = 'N',
       run_at = now() + $1::float8 * interval '1 second',
       till = NULL,
       tries = tries - 1
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* everyq.Fail */ every
SET    state = 'N',
       till = NULL,
       tries = 0
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch Till
UPDATE /* everyq.Requeue */ every
SET    state = 'N',
       run_at = CASE WHEN $1 > 0.0 THEN now() + $1::float8 * interval '1 second' ELSE run_at END,
       till = NULL
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* everyq.Extend */ every
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (till) WHERE state = 'A'
-- arguments: 1: limit
UPDATE /* everyq.Recover */ every
SET    state = 'N',
       till = NULL,
       tries = tries - 1
WHERE  state = 'A'
AND    tries > 1
AND    till <= now()
LIMIT  $1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (till) WHERE state = 'A'
-- arguments: 1: limit
UPDATE /* everyq.Recover */ every
SET    state = 'N',
       till = NULL,
       tries = 0
WHERE  state = 'A'
AND    tries <= 1
AND    till <= now()
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* everyq.Redrive */ every
SET    till = NULL,
       tries = 3
WHERE  state = 'N'
AND    tries <= 0
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new Every
INSERT /* everyq.Enqueue */ INTO every
       (run_at, every)
VALUES ($1, coalesce($2::bigint, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RunAt, 2: new_batch Every
INSERT /* everyq.EnqueueMany */ INTO every
       (run_at, every)
SELECT run_at_new, coalesce(every_new, 60)
FROM   unnest($1::timestamptz[], $2::bigint[]) WITH ORDINALITY AS job (run_at_new, every_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* everyq.Stats */
       count(*) FILTER (WHERE state = 'N' AND tries > 0 AND (run_at <= now() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'N' AND tries <= 0) AS failed,
       count(*) FILTER (WHERE state = 'N' AND tries > 0 AND run_at > now()) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND till <= now()) AS expired,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE state = 'N' AND tries > 0 AND (run_at <= now() OR run_at IS NULL))) AS oldest_ready
FROM   every;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'N' AND tries > 0
SELECT /* everyq.Backlog */
       count(*) FILTER (WHERE (run_at <= now() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE (run_at <= now() OR run_at IS NULL))) AS oldest_ready
FROM   every
WHERE  state = 'N'
AND    tries > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'N' AND tries > 0
-- arguments: 1: limit
SELECT /* everyq.Peek */
       id, run_at, tries, every
FROM   every
WHERE  state = 'N'
AND    tries > 0
AND    (run_at <= now() OR run_at IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* everyq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* everyq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('run_at', 'timestamptz'),
               ('till', 'timestamptz'),
               ('tries', 'bigint'),
               ('every', 'bigint'),
               ('ran_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('every')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* everyq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('every_ready'),
               ('every_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('every')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX every_ready ON every (id)
WHERE  state = 'N'
AND    tries > 0;

-- serves Recover: claims that ran out
CREATE INDEX every_expired ON every (till)
WHERE  state = 'A';
