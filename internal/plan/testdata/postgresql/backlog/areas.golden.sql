-- Package areasq uses the table areas as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "made"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the index areas_ready is declined (indexes: {ready: false}): every claim reads more rows than it takes

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: areas_kind (kind, state, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param id *int64, 2: param area string, 3: param kind []string, 4: limit
UPDATE /* areasq.Claim */ areas
SET    state = 'busy'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   areas
           WHERE  state = 'new'
           AND    ($1::bigint IS NULL OR id = $1)
           AND    area = $2::text::box
           AND    kind = ANY ($3::text[])
           ORDER  BY made, id
           LIMIT  $4
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, area::text, kind, made, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: areas_kind (kind, state, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param id *int64, 2: param area string, 3: param kind []string
UPDATE /* areasq.Claim */ areas
SET    state = 'busy'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   areas
           WHERE  state = 'new'
           AND    ($1::bigint IS NULL OR id = $1)
           AND    area = $2::text::box
           AND    kind = ANY ($3::text[])
           ORDER  BY made, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, area::text, kind, made, body;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: areas_kind (kind, state, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param id *int64, 2: param area string, 3: param kind []string
UPDATE /* areasq.Claim */ areas
SET    state = 'busy'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   areas
           WHERE  state = 'new'
           AND    ($1::bigint IS NULL OR id = $1)
           AND    area = $2::text::box
           AND    kind = ANY ($3::text[])
           ORDER  BY made, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, area::text, kind, made, body;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* areasq.Complete */ areas
SET    state = 'over'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* areasq.Fail */ areas
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* areasq.Requeue */ areas
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* areasq.Purge */ FROM areas
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   areas
           WHERE  state = 'over'
           AND    made <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Area, 3: new Kind, 4: new Body
INSERT /* areasq.Enqueue */ INTO areas
       (id, area, state, kind, made, body)
VALUES ($1, $2::text::box, 'new', $3, now(), $4)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Area, 3: new_batch Kind, 4: new_batch Body
INSERT /* areasq.EnqueueMany */ INTO areas
       (id, area, state, kind, made, body)
SELECT id_new, area_new::text::box, 'new', kind_new, now(), body_new
FROM   unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS job (id_new, area_new, kind_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* areasq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       extract(epoch FROM now() - min(made) FILTER (WHERE state = 'new')) AS oldest_ready
FROM   areas;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same id, area and kind is for
-- locks: none
-- index: areas_kind (kind, state, id); it reads others as well
-- arguments: 1: param id *int64, 2: param area string, 3: param kind []string
SELECT /* areasq.StatsOf */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       extract(epoch FROM now() - min(made) FILTER (WHERE state = 'new')) AS oldest_ready
FROM   areas
WHERE  ($1::bigint IS NULL OR id = $1)
AND    area = $2::text::box
AND    kind = ANY ($3::text[]);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: areas_kind (kind, state, id); it looks through all of that index
SELECT /* areasq.Backlog */
       kind,
       count(*) AS ready,
       extract(epoch FROM now() - min(made)) AS oldest_ready
FROM   areas
WHERE  state = 'new'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: areas_kind (kind, state, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param id *int64, 2: param area string, 3: param kind []string, 4: limit
SELECT /* areasq.Peek */
       id, area::text, kind, made, body
FROM   areas
WHERE  state = 'new'
AND    ($1::bigint IS NULL OR id = $1)
AND    area = $2::text::box
AND    kind = ANY ($3::text[])
ORDER  BY made, id
LIMIT  $4;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* areasq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* areasq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('area', 'box'),
               ('state', 'text'),
               ('kind', 'text'),
               ('made', 'timestamptz'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('areas')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* areasq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';
