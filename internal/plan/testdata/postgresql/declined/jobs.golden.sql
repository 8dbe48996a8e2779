-- Package jobsq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the index jobs_ready is declined (indexes: {ready: false}): every claim reads more rows than it takes
-- note: the index jobs_expired is declined (indexes: {expired: false}): Recover reads the claims that are good as well

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); rows that are not ready are read and passed over
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); rows that are not ready are read and passed over
-- isolation: read committed
-- arguments: 1: low
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id); rows that are not ready are read and passed over
-- isolation: read committed
-- arguments: 1: low
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       till = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* jobsq.Complete */ jobs
SET    state = 'done',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* jobsq.Fail */ jobs
SET    state = 'new',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* jobsq.Requeue */ jobs
SET    state = 'new',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* jobsq.Extend */ jobs
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'busy' THEN true END
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 'new',
       till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'busy'
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'done'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* jobsq.Enqueue */ INTO jobs
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'busy' AND till <= now()) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id); rows that are not ready are read and passed over
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id
FROM   jobs
WHERE  state = 'new'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('till', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* jobsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';
