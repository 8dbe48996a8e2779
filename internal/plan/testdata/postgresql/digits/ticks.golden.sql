-- Package ticksq uses the table ticks as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates ticks_ready and ticks_expired.
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
-- note: times of column "ended" have 19 digits, which last until 11 April 2262
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, due_at) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* ticksq.Claim */ ticks
SET    state = 'A',
       since = (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'N'
           AND    due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due_at, since, tries, wait_s;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, due_at) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* ticksq.Claim */ ticks
SET    state = 'A',
       since = (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'N'
           AND    due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due_at, since, tries, wait_s;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, due_at) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* ticksq.Claim */ ticks
SET    state = 'A',
       since = (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'N'
           AND    due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due_at, since, tries, wait_s;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* ticksq.Complete */ ticks
SET    state = 'D',
       ended = lpad((floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)::text, 19, '0')
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* ticksq.Fail */ ticks
SET    state = 'N',
       due_at = (floor(extract(epoch FROM now() + (interval '1 minute')) * 1000000)::bigint * 1000),
       since = NULL,
       tries = tries + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* ticksq.Fail */ ticks
SET    state = 'F',
       tries = tries + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Since
UPDATE /* ticksq.Requeue */ ticks
SET    state = 'N',
       due_at = CASE WHEN $1 > 0.0 THEN (floor((extract(epoch FROM now()) + $1) * 1000000)::bigint * 1000) ELSE due_at END,
       since = NULL
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* ticksq.Extend */ ticks
SET    since = (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'A' THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* ticksq.Recover */ ticks
SET    state = 'N',
       since = NULL,
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'A'
           AND    tries < 2
           AND    since <= (floor((extract(epoch FROM now()) - wait_s) * 1000000)::bigint * 1000)
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* ticksq.Recover */ ticks
SET    state = 'F',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'A'
           AND    tries >= 2
           AND    since <= (floor((extract(epoch FROM now()) - wait_s) * 1000000)::bigint * 1000)
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* ticksq.Redrive */ ticks
SET    state = 'N',
       since = NULL,
       tries = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'F'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* ticksq.Purge */ FROM ticks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'D'
           AND    ended <= lpad(greatest(0, least((floor((extract(epoch FROM now()) - $1) * 1000000)::bigint * 1000), 9223372036854775807))::text, 19, '0')
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE state = 'F' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* ticksq.Purge */ FROM ticks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ticks
           WHERE  state = 'F'
           AND    since <= (floor((extract(epoch FROM now()) - $1) * 1000000)::bigint * 1000)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new WaitS
INSERT /* ticksq.Enqueue */ INTO ticks
       (due_at, wait_s)
VALUES (coalesce($1::bigint, (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)),
        coalesce($2::integer, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch DueAt, 2: new_batch WaitS
INSERT /* ticksq.EnqueueMany */ INTO ticks
       (due_at, wait_s)
SELECT coalesce(due_at_new, (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)),
       coalesce(wait_s_new, 60)
FROM   unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS job (due_at_new, wait_s_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ticksq.Stats */
       count(*) FILTER (WHERE state = 'N' AND due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'N' AND due_at > (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND since <= (floor((extract(epoch FROM now()) - wait_s) * 1000000)::bigint * 1000)) AS expired,
       ((floor(extract(epoch FROM now()) * 1000000)::bigint * 1000) / 1000000000.0 - min(due_at) FILTER (WHERE state = 'N' AND due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)) / 1000000000.0) AS oldest_ready,
       ((floor(extract(epoch FROM now()) * 1000000)::bigint * 1000) / 1000000000.0 - min(since) FILTER (WHERE state = 'A') / 1000000000.0) AS oldest_running,
       avg((nullif(ended, '')::bigint / 1000000000.0 - since / 1000000000.0)) FILTER (WHERE state = 'D') AS mean_run
FROM   ticks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST, due_at) WHERE state = 'N'
SELECT /* ticksq.Backlog */
       count(*) FILTER (WHERE due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)) AS ready,
       count(*) FILTER (WHERE due_at > (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)) AS delayed,
       ((floor(extract(epoch FROM now()) * 1000000)::bigint * 1000) / 1000000000.0 - min(due_at) FILTER (WHERE due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)) / 1000000000.0) AS oldest_ready
FROM   ticks
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST, due_at) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ticksq.Peek */
       id, due_at, tries, wait_s
FROM   ticks
WHERE  state = 'N'
AND    due_at <= (floor(extract(epoch FROM now()) * 1000000)::bigint * 1000)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ticksq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ticksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('due_at', 'bigint'),
               ('since', 'bigint'),
               ('tries', 'integer'),
               ('ended', 'varchar'),
               ('wait_s', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('ticks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* ticksq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ticksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('ticks_ready', 'id nulls first', 'id nulls first', 'state=''n'''),
               ('ticks_expired', 'id', 'id', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('ticks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY ticks_ready ON ticks (id NULLS FIRST, due_at)
WHERE  state = 'N';

-- serves Recover: rows that somebody has
CREATE INDEX CONCURRENTLY ticks_expired ON ticks (id)
WHERE  state = 'A';
