-- Package runsq uses the table runs as a queue of jobs on CockroachDB 25.2 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready and runs_expired.
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
-- note: times of column "made" have 10 digits, which last until 20 November 2286
-- note: rows are taken as they came, by column "id"; order 1 at column "run_text" takes them by their time, and reads none that wait for theirs
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id, run_text) WHERE state = 'N'
-- arguments: 1: low, 2: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'A',
       held_till = lpad(floor((extract(epoch FROM now()) + 300) * 1000000)::bigint::text, 17, '0')
WHERE  state = 'N'
AND    run_text <= lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, run_text, held_till, made, tries, body;

-- sql/complete.sql
-- complete: running to done
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch HeldTill
UPDATE /* runsq.Complete */ runs
SET    state = 'D',
       held_till = NULL,
       ended = lpad(floor(extract(epoch FROM now()) * 1000)::bigint::text, 14, '0')
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'N',
       run_text = lpad(greatest(0, least(floor(extract(epoch FROM now() + (interval '1 minute' * (tries + 1))))::bigint, 99999999999))::text, 11, '0'),
       held_till = NULL,
       tries = tries + 1
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch HeldTill
UPDATE /* runsq.Fail */ runs
SET    state = 'F',
       held_till = NULL,
       tries = tries + 1
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch HeldTill
UPDATE /* runsq.Requeue */ runs
SET    state = 'N',
       run_text = CASE WHEN $1 > 0.0 THEN lpad(greatest(0, least(floor(extract(epoch FROM now()) + $1)::bigint, 99999999999))::text, 11, '0') ELSE run_text END,
       held_till = NULL
FROM   unnest($2::bigint[], $3::varchar[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch HeldTill
UPDATE /* runsq.Extend */ runs
SET    held_till = lpad(floor((extract(epoch FROM now()) + 300) * 1000000)::bigint::text, 17, '0')
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, held_till_held)
WHERE  id = id_held
AND    CASE WHEN held_till = held_till_held
            AND    state = 'A' THEN true END
RETURNING id, held_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (held_till) WHERE state = 'A'
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'N',
       held_till = NULL,
       tries = tries + 1
WHERE  state = 'A'
AND    tries < 2
AND    held_till <= lpad(floor(extract(epoch FROM now()) * 1000000)::bigint::text, 17, '0')
LIMIT  $1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (held_till) WHERE state = 'A'
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'F',
       held_till = NULL,
       tries = tries + 1
WHERE  state = 'A'
AND    tries >= 2
AND    held_till <= lpad(floor(extract(epoch FROM now()) * 1000000)::bigint::text, 17, '0')
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'N',
       held_till = NULL,
       tries = 0
WHERE  state = 'F'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  state = 'D'
AND    ended <= lpad(greatest(0, least(floor((extract(epoch FROM now()) - $1) * 1000)::bigint, 99999999999999))::text, 14, '0')
LIMIT  $2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'F' would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  state = 'F'
AND    made <= lpad(greatest(0, least(floor(extract(epoch FROM now()) - $1)::bigint, 9999999999))::text, 10, '0')::bpchar
LIMIT  $2;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunText, 2: new Body
INSERT /* runsq.Enqueue */ INTO runs
       (run_text, made, body)
VALUES (coalesce($1::varchar, lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')),
        lpad(floor(extract(epoch FROM now()))::bigint::text, 10, '0')::bpchar, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch RunText, 2: new_batch Body
INSERT /* runsq.EnqueueMany */ INTO runs
       (run_text, made, body)
SELECT coalesce(run_text_new, lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')),
       lpad(floor(extract(epoch FROM now()))::bigint::text, 10, '0')::bpchar, body_new
FROM   unnest($1::varchar[], $2::varchar[]) WITH ORDINALITY AS job (run_text_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND run_text <= lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'N' AND run_text > lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND held_till <= lpad(floor(extract(epoch FROM now()) * 1000000)::bigint::text, 17, '0')) AS expired,
       (floor(extract(epoch FROM now()))::bigint - nullif(min(made) FILTER (WHERE state = 'N' AND run_text <= lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')), '')::bigint) AS oldest_ready
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, run_text) WHERE state = 'N'
SELECT /* runsq.Backlog */
       count(*) FILTER (WHERE run_text <= lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')) AS ready,
       count(*) FILTER (WHERE run_text > lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - nullif(min(made) FILTER (WHERE run_text <= lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')), '')::bigint) AS oldest_ready
FROM   runs
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, run_text) WHERE state = 'N'
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, run_text, made, tries, body
FROM   runs
WHERE  state = 'N'
AND    run_text <= lpad(floor(extract(epoch FROM now()))::bigint::text, 11, '0')
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('run_text', 'varchar'),
               ('held_till', 'varchar'),
               ('made', 'char'),
               ('ended', 'varchar'),
               ('tries', 'bigint'),
               ('body', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('runs_ready'),
               ('runs_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('runs')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX runs_ready ON runs (id, run_text)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX runs_expired ON runs (held_till)
WHERE  state = 'A';
