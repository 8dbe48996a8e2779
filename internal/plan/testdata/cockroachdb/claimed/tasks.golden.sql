-- Package tasksq uses the table tasks as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready and tasks_expired.
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
-- note: rows are taken as they came, by column "id"
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE state = 'pending'
-- arguments: 1: low, 2: limit
UPDATE /* tasksq.Claim */ tasks
SET    state = 'waiting',
       till = now() + interval '5 minutes',
       tries = tries + 1,
       version = version + 1,
       claimed_at = now()
WHERE  state = 'pending'
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, till, tries, version, why;

-- sql/start.sql
-- start: claimed to running
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Start */ tasks
SET    state = 'running',
       version = version + 1,
       started_at = now()
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state = 'waiting' THEN true END
RETURNING id, version;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Complete */ tasks
SET    state = 'successful',
       till = NULL,
       version = version + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch ID, 3: batch Version
UPDATE /* tasksq.Fail */ tasks
SET    state = 'pending',
       till = NULL,
       version = version + 1,
       why = $1
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch ID, 3: batch Version
UPDATE /* tasksq.Fail */ tasks
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = $1
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Requeue */ tasks
SET    state = 'pending',
       till = NULL,
       tries = tries - 1,
       version = version + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Extend */ tasks
SET    till = now() + interval '5 minutes',
       version = version + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id, till, version;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (till) WHERE state IN ('waiting', 'running')
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'pending',
       till = NULL,
       version = version + 1
WHERE  state IN ('waiting', 'running')
AND    tries < 3
AND    till <= now()
LIMIT  $1;

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (till) WHERE state IN ('waiting', 'running')
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = 'the claim ran out'
WHERE  state IN ('waiting', 'running')
AND    tries >= 3
AND    till <= now()
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ tasks
SET    state = 'pending',
       till = NULL,
       tries = 0,
       version = version + 1
WHERE  state = 'failed'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'successful' would find them
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  state = 'successful'
LIMIT  $1;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  state = 'failed'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* tasksq.Enqueue */ INTO tasks
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE state = 'pending') AS ready,
       count(*) FILTER (WHERE state = 'waiting') AS claimed,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'successful') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('waiting', 'running') AND till <= now()) AS expired
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'pending'
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'pending'
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, tries, version, why
FROM   tasks
WHERE  state = 'pending'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'varchar'),
               ('till', 'timestamptz'),
               ('tries', 'bigint'),
               ('version', 'bigint'),
               ('claimed_at', 'timestamptz'),
               ('started_at', 'timestamptz'),
               ('why', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_ready'),
               ('tasks_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('tasks')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX tasks_ready ON tasks (id)
WHERE  state = 'pending';

-- serves Recover: claims that ran out
CREATE INDEX tasks_expired ON tasks (till)
WHERE  state IN ('waiting', 'running');
