-- Package uploadsq uses the table uploads as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and its recoveries are spent
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those whose recoveries are spent failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates uploads_ready and uploads_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: on giveup, column "message" gets 'reset too often' as qgen:on says, not 'the claim ran out' as qgen:error would
-- note: rows are taken as they came, by column "id"
-- note: warning: a running row whose seen is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'queued'
-- isolation: read committed
-- arguments: 1: token Held, 2: low, 3: limit
UPDATE /* uploadsq.Claim */ uploads
SET    state = 'processing',
       held = $1,
       seen = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'queued'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, held, num_failures, num_resets, message;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'queued'
-- isolation: read committed
-- arguments: 1: token Held, 2: low
UPDATE /* uploadsq.Claim */ uploads
SET    state = 'processing',
       held = $1,
       seen = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'queued'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, held, num_failures, num_resets, message;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'queued'
-- isolation: read committed
-- arguments: 1: token Held, 2: low
UPDATE /* uploadsq.Claim */ uploads
SET    state = 'processing',
       held = $1,
       seen = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'queued'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, held, num_failures, num_resets, message;

-- sql/complete.sql
-- complete: running to done
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Held
UPDATE /* uploadsq.Complete */ uploads
SET    state = 'completed'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, held_held)
WHERE  id = id_held
AND    CASE WHEN held = held_held
            AND    state = 'processing' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Held
UPDATE /* uploadsq.Fail */ uploads
SET    state = 'queued',
       held = NULL,
       num_failures = num_failures + 1,
       message = $1
FROM   unnest($2::bigint[], $3::uuid[]) AS job (id_held, held_held)
WHERE  id = id_held
AND    CASE WHEN held = held_held
            AND    state = 'processing' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Held
UPDATE /* uploadsq.Fail */ uploads
SET    state = 'failed',
       num_failures = num_failures + 1,
       message = $1
FROM   unnest($2::bigint[], $3::uuid[]) AS job (id_held, held_held)
WHERE  id = id_held
AND    CASE WHEN held = held_held
            AND    state = 'processing' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Held
UPDATE /* uploadsq.Requeue */ uploads
SET    state = 'queued',
       held = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, held_held)
WHERE  id = id_held
AND    CASE WHEN held = held_held
            AND    state = 'processing' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Held
UPDATE /* uploadsq.Extend */ uploads
SET    seen = now()
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, held_held)
WHERE  id = id_held
AND    CASE WHEN held = held_held
            AND    state = 'processing' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (seen) WHERE state = 'processing'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ uploads
SET    state = 'queued',
       held = NULL,
       num_resets = num_resets + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'processing'
           AND    num_resets < 2
           AND    seen <= now() - interval '25 seconds'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim, whose recoveries are spent, to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (seen) WHERE state = 'processing'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ uploads
SET    state = 'failed',
       message = 'reset too often'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'processing'
           AND    num_resets >= 2
           AND    seen <= now() - interval '25 seconds'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* uploadsq.Redrive */ uploads
SET    state = 'queued',
       held = NULL,
       num_failures = 0,
       num_resets = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'completed' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ FROM uploads
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'completed'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ FROM uploads
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   uploads
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* uploadsq.Enqueue */ INTO uploads
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* uploadsq.Stats */
       count(*) FILTER (WHERE state = 'queued') AS ready,
       count(*) FILTER (WHERE state = 'processing') AS running,
       count(*) FILTER (WHERE state = 'completed') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'processing' AND seen <= now() - interval '25 seconds') AS expired
FROM   uploads;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'queued'
SELECT /* uploadsq.Backlog */
       count(*) AS ready
FROM   uploads
WHERE  state = 'queued';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'queued'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* uploadsq.Peek */
       id, num_failures, num_resets, message
FROM   uploads
WHERE  state = 'queued'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* uploadsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* uploadsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'varchar'),
               ('held', 'uuid'),
               ('seen', 'timestamptz'),
               ('num_failures', 'integer'),
               ('num_resets', 'integer'),
               ('message', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('uploads')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* uploadsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* uploadsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('uploads_ready', 'id nulls first', 'id nulls first', 'state=''queued'''),
               ('uploads_expired', 'seen', 'seen', 'state=''processing''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('uploads')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY uploads_ready ON uploads (id NULLS FIRST)
WHERE  state = 'queued';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY uploads_expired ON uploads (seen)
WHERE  state = 'processing';
