-- Package runsq uses the table runs as a queue of jobs on CockroachDB 25.2 and later.
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
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "created"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where (exists (select 1 from crons c where c.id = {new}.cron and c.status <> 'stop') and not exists (select 1 from runs q where q.cron = {new}.cron and q.created > {arg:seen})), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it
-- note: enqueue=absent leaves a job out where a row is like it in cron, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (created, id) WHERE status = 'wait'
-- arguments: 1: limit
UPDATE /* runsq.Claim */ runs
SET    status = 'doing',
       since = now()
WHERE  status = 'wait'
ORDER  BY created, id
LIMIT  $1
RETURNING id, cron, created, since;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* runsq.Complete */ runs
SET    status = 'done'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'doing' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* runsq.Fail */ runs
SET    status = 'failed'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'doing' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* runsq.Requeue */ runs
SET    status = 'wait',
       since = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'doing' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* runsq.Extend */ runs
SET    since = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'doing' THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (since) WHERE status = 'doing'
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    status = 'wait',
       since = NULL
WHERE  status = 'doing'
AND    since <= now() - interval '1 hour'
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    status = 'wait',
       since = NULL
WHERE  status = 'failed'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'done' would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  status = 'done'
AND    since <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'failed' would find them
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  status = 'failed'
AND    since <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none, unless one is like it in cron, of those that are ready: then it adds none
-- locks: the new row, until commit
-- index: runs_cron (cron, status); whichever finds the rows of enqueue_if
-- arguments: 1: new ID, 2: new Cron, 3: new Seen
INSERT /* runsq.Enqueue */ INTO runs
       (id, cron, created)
SELECT coalesce($1::bigint, unique_rowid()), $2::bigint, now()
WHERE  (exists (select 1 from crons c where c.id = $2::bigint and c.status <> 'stop') and not exists (select 1 from runs q where q.cron = $2::bigint and q.created > $3::timestamptz))
AND    NOT EXISTS (
           SELECT 1
           FROM   runs
           WHERE  cron = $2::bigint
           AND    status = 'wait')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE status = 'wait') AS ready,
       count(*) FILTER (WHERE status = 'doing') AS running,
       count(*) FILTER (WHERE status = 'done') AS done,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'doing' AND since <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(created) FILTER (WHERE status = 'wait')) AS oldest_ready,
       extract(epoch FROM now() - min(since) FILTER (WHERE status = 'doing')) AS oldest_running,
       avg(extract(epoch FROM since - created)) FILTER (WHERE status = 'done') AS mean_wait
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (created, id) WHERE status = 'wait'
SELECT /* runsq.Backlog */
       count(*) AS ready,
       extract(epoch FROM now() - min(created)) AS oldest_ready
FROM   runs
WHERE  status = 'wait';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (created, id) WHERE status = 'wait'
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, cron, created
FROM   runs
WHERE  status = 'wait'
ORDER  BY created, id
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
               ('cron', 'bigint'),
               ('created', 'timestamptz'),
               ('status', 'varchar'),
               ('since', 'timestamptz')) AS want (name, type)
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
               ('runs_expired'),
               ('runs_cron')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('runs')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX runs_ready ON runs (created, id)
WHERE  status = 'wait';

-- serves Recover: claims that ran out
CREATE INDEX runs_expired ON runs (since)
WHERE  status = 'doing';

-- serves Enqueue: the rows that are like a new job: runs_cron serves already
