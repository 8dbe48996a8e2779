-- Package delayedq uses the table delayed as a queue of jobs on PostgreSQL 15 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates delayed_ready and delayed_expired.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* delayedq.Claim */ delayed
SET    state = 'A',
       locked_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'N'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, locked_at, attempts, max_attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* delayedq.Claim */ delayed
SET    state = 'A',
       locked_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'N'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, locked_at, attempts, max_attempts;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* delayedq.Claim */ delayed
SET    state = 'A',
       locked_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'N'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, locked_at, attempts, max_attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch LockedAt
UPDATE /* delayedq.Complete */ delayed
SET    state = 'D'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, locked_at_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch LockedAt
UPDATE /* delayedq.Fail */ delayed
SET    state = 'N',
       locked_at = NULL,
       attempts = coalesce(attempts, 0) + 1
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, locked_at_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch LockedAt
UPDATE /* delayedq.Fail */ delayed
SET    state = 'F',
       attempts = coalesce(attempts, 0) + 1
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, locked_at_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch LockedAt
UPDATE /* delayedq.Requeue */ delayed
SET    state = 'N',
       locked_at = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, locked_at_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: locked_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch LockedAt
UPDATE /* delayedq.Extend */ delayed
SET    locked_at = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, locked_at_held)
WHERE  id = id_held
AND    CASE WHEN locked_at = locked_at_held
            AND    state = 'A' THEN true END
RETURNING id, locked_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (locked_at) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* delayedq.Recover */ delayed
SET    state = 'N',
       locked_at = NULL,
       attempts = coalesce(attempts, 0) + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'A'
           AND    (attempts + 1 < coalesce(max_attempts, 15) OR attempts IS NULL OR max_attempts = 0)
           AND    (attempts IS NOT NULL OR max_attempts > 1 OR max_attempts IS NULL OR max_attempts = 0)
           AND    locked_at <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (locked_at) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* delayedq.Recover */ delayed
SET    state = 'F',
       attempts = coalesce(attempts, 0) + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'A'
           AND    (attempts + 1 >= coalesce(max_attempts, 15) OR attempts IS NULL)
           AND    (attempts IS NOT NULL OR max_attempts <= 1)
           AND    (max_attempts IS NULL OR max_attempts <> 0)
           AND    locked_at <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* delayedq.Redrive */ delayed
SET    state = 'N',
       locked_at = NULL,
       attempts = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'F'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (locked_at) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* delayedq.Purge */ FROM delayed
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'D'
           AND    locked_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (locked_at) WHERE state = 'F' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* delayedq.Purge */ FROM delayed
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   delayed
           WHERE  state = 'F'
           AND    locked_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MaxAttempts
INSERT /* delayedq.Enqueue */ INTO delayed
       (attempts, max_attempts)
VALUES (0, $1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch MaxAttempts
INSERT /* delayedq.EnqueueMany */ INTO delayed
       (attempts, max_attempts)
SELECT 0, max_attempts_new
FROM   unnest($1::smallint[]) WITH ORDINALITY AS job (max_attempts_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* delayedq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'A' AND locked_at <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(locked_at) FILTER (WHERE state = 'A')) AS oldest_running
FROM   delayed;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
SELECT /* delayedq.Backlog */
       count(*) AS ready
FROM   delayed
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* delayedq.Peek */
       id, attempts, max_attempts
FROM   delayed
WHERE  state = 'N'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* delayedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* delayedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('locked_at', 'timestamptz'),
               ('attempts', 'smallint'),
               ('max_attempts', 'smallint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('delayed')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* delayedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* delayedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('delayed_ready', 'id nulls first', 'id nulls first', 'state=''n'''),
               ('delayed_expired', 'locked_at', 'locked_at', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('delayed')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY delayed_ready ON delayed (id NULLS FIRST)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY delayed_expired ON delayed (locked_at)
WHERE  state = 'A';
