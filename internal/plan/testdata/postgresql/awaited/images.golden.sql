-- Package imagesq uses the table images as a queue of jobs on PostgreSQL 14 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> running, while tries are left
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
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
-- note: on retry, column "status" stays as it is, as qgen:on says, and does not get 'new' as qgen:status would
-- note: on recover, column "retry" stays as it is, as qgen:on says, and does not get retry -1 as qgen:attempts would
-- note: Fail leaves a job running until its claim has run out, since qgen:on retry leaves column "status" as it is; then Recover makes it ready
-- note: the fence is the status, and two claims of one worker look alike: with qgen:claimed at column "heartbeat" beside heartbeat the time there is the fence, which Extend writes as before
-- note: warning: a running row whose heartbeat is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: images_ready (queue, added, id) WHERE status = 'new' AND retry > 0
-- isolation: read committed
-- arguments: 1: worker Worker, 2: param queue string, 3: limit
UPDATE /* imagesq.Claim */ images
SET    worker = $1,
       status = 'running',
       heartbeat = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   images
           WHERE  status = 'new'
           AND    retry > 0
           AND    queue = $2
           ORDER  BY added, id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queue, job, worker, added, retry;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: images_ready (queue, added, id) WHERE status = 'new' AND retry > 0
-- isolation: read committed
-- arguments: 1: worker Worker, 2: param queue string
UPDATE /* imagesq.Claim */ images
SET    worker = $1,
       status = 'running',
       heartbeat = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   images
           WHERE  status = 'new'
           AND    retry > 0
           AND    queue = $2
           ORDER  BY added, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queue, job, worker, added, retry;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: images_ready (queue, added, id) WHERE status = 'new' AND retry > 0
-- isolation: read committed
-- arguments: 1: worker Worker, 2: param queue string
UPDATE /* imagesq.Claim */ images
SET    worker = $1,
       status = 'running',
       heartbeat = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   images
           WHERE  status = 'new'
           AND    retry > 0
           AND    queue = $2
           ORDER  BY added, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queue, job, worker, added, retry;

-- sql/complete.sql
-- complete: running to done
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
DELETE /* imagesq.Complete */ FROM images
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running until the claim has run out, one try used
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* imagesq.Fail */ images
SET    worker = NULL,
       retry = retry - 1
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
DELETE /* imagesq.Fail */ FROM images
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* imagesq.Requeue */ images
SET    worker = NULL,
       status = 'new',
       heartbeat = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: worker as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Worker
UPDATE /* imagesq.Extend */ images
SET    heartbeat = now()
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, worker_held)
WHERE  id = id_held
AND    CASE WHEN worker = worker_held
            AND    status = 'running' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: heartbeat_index (heartbeat)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* imagesq.Recover */ images
SET    worker = NULL,
       status = 'new',
       heartbeat = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   images
           WHERE  status = 'running'
           AND    heartbeat <= now() - interval '2 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Queue, 2: new Job
INSERT /* imagesq.Enqueue */ INTO images
       (queue, job, added)
VALUES ($1, $2, now())
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Queue, 2: new_batch Job
INSERT /* imagesq.EnqueueMany */ INTO images
       (queue, job, added)
SELECT queue_new, job_new, now()
FROM   unnest($1::text[], $2::jsonb[]) WITH ORDINALITY AS job (queue_new, job_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* imagesq.Stats */
       count(*) FILTER (WHERE status = 'new' AND retry > 0) AS ready,
       count(*) FILTER (WHERE status = 'running') AS running,
       count(*) FILTER (WHERE status = 'running' AND heartbeat <= now() - interval '2 minutes') AS expired,
       extract(epoch FROM now() - min(added) FILTER (WHERE status = 'new' AND retry > 0)) AS oldest_ready
FROM   images;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same queue is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param queue string
SELECT /* imagesq.StatsOf */
       count(*) FILTER (WHERE status = 'new' AND retry > 0) AS ready,
       count(*) FILTER (WHERE status = 'running') AS running,
       count(*) FILTER (WHERE status = 'running' AND heartbeat <= now() - interval '2 minutes') AS expired,
       extract(epoch FROM now() - min(added) FILTER (WHERE status = 'new' AND retry > 0)) AS oldest_ready
FROM   images
WHERE  queue = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by queue
-- locks: none
-- index: images_ready (queue, added, id) WHERE status = 'new' AND retry > 0
SELECT /* imagesq.Backlog */
       queue,
       count(*) AS ready,
       extract(epoch FROM now() - min(added)) AS oldest_ready
FROM   images
WHERE  status = 'new'
AND    retry > 0
GROUP  BY queue
ORDER  BY queue;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: images_ready (queue, added, id) WHERE status = 'new' AND retry > 0
-- isolation: read committed
-- arguments: 1: param queue string, 2: limit
SELECT /* imagesq.Peek */
       id, queue, job, added, retry
FROM   images
WHERE  status = 'new'
AND    retry > 0
AND    queue = $1
ORDER  BY added, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* imagesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* imagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('queue', 'text'),
               ('job', 'jsonb'),
               ('worker', 'uuid'),
               ('status', 'text'),
               ('added', 'timestamptz'),
               ('heartbeat', 'timestamptz'),
               ('retry', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('images')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* imagesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* imagesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('images_ready', 'queue, added, id', 'queue, added, id', 'status=''new''andretry>0'),
               ('heartbeat_index', 'heartbeat', 'heartbeat', '')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('images')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: images_ready serves already

-- serves Recover: claims that ran out: heartbeat_index serves already
