-- Package thousandthsq uses the table thousandths as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates thousandths_ready and thousandths_expired.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (due, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* thousandthsq.Claim */ thousandths
SET    state = 'A',
       taken = date_trunc('millisecond', now())
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   thousandths
           WHERE  state = 'N'
           AND    due <= (now() AT TIME ZONE 'UTC')
           ORDER  BY due, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due, taken;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (due, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* thousandthsq.Claim */ thousandths
SET    state = 'A',
       taken = date_trunc('millisecond', now())
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   thousandths
           WHERE  state = 'N'
           AND    due <= (now() AT TIME ZONE 'UTC')
           ORDER  BY due, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due, taken;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (due, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* thousandthsq.Claim */ thousandths
SET    state = 'A',
       taken = date_trunc('millisecond', now())
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   thousandths
           WHERE  state = 'N'
           AND    due <= (now() AT TIME ZONE 'UTC')
           ORDER  BY due, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, due, taken;

-- sql/complete.sql
-- complete: running to done
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* thousandthsq.Complete */ thousandths
SET    state = 'D'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* thousandthsq.Fail */ thousandths
SET    state = 'F'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Taken
UPDATE /* thousandthsq.Requeue */ thousandths
SET    state = 'N',
       due = CASE WHEN $1 > 0.0 THEN (now() AT TIME ZONE 'UTC') + make_interval(secs => $1) ELSE due END,
       taken = NULL
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken
UPDATE /* thousandthsq.Extend */ thousandths
SET    taken = date_trunc('millisecond', now())
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, taken_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    state = 'A' THEN true END
RETURNING id, taken;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (taken) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* thousandthsq.Recover */ thousandths
SET    state = 'N',
       taken = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   thousandths
           WHERE  state = 'A'
           AND    taken <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* thousandthsq.Redrive */ thousandths
SET    state = 'N',
       taken = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   thousandths
           WHERE  state = 'F'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* thousandthsq.Purge */ FROM thousandths
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   thousandths
           WHERE  state = 'D'
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'F' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* thousandthsq.Purge */ FROM thousandths
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   thousandths
           WHERE  state = 'F'
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Due
INSERT /* thousandthsq.Enqueue */ INTO thousandths
       (due)
VALUES (coalesce($1::timestamp, date_trunc('millisecond', (now() AT TIME ZONE 'UTC'))))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Due
INSERT /* thousandthsq.EnqueueMany */ INTO thousandths
       (due)
SELECT coalesce(due_new, date_trunc('millisecond', (now() AT TIME ZONE 'UTC')))
FROM   unnest($1::timestamp[]) WITH ORDINALITY AS job (due_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* thousandthsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND due <= (now() AT TIME ZONE 'UTC')) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'N' AND due > (now() AT TIME ZONE 'UTC')) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND taken <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM (now() AT TIME ZONE 'UTC') - min(due) FILTER (WHERE state = 'N' AND due <= (now() AT TIME ZONE 'UTC'))) AS oldest_ready,
       extract(epoch FROM now() - min(taken) FILTER (WHERE state = 'A')) AS oldest_running
FROM   thousandths;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (due, id) WHERE state = 'N'
SELECT /* thousandthsq.Backlog */
       count(*) FILTER (WHERE due <= (now() AT TIME ZONE 'UTC')) AS ready,
       count(*) FILTER (WHERE due > (now() AT TIME ZONE 'UTC')) AS delayed,
       extract(epoch FROM (now() AT TIME ZONE 'UTC') - min(due) FILTER (WHERE due <= (now() AT TIME ZONE 'UTC'))) AS oldest_ready
FROM   thousandths
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (due, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* thousandthsq.Peek */
       id, due
FROM   thousandths
WHERE  state = 'N'
AND    due <= (now() AT TIME ZONE 'UTC')
ORDER  BY due, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* thousandthsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* thousandthsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('due', 'timestamp'),
               ('taken', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('thousandths')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* thousandthsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* thousandthsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('thousandths_ready', 'due, id', 'due, id', 'state=''n'''),
               ('thousandths_expired', 'taken', 'taken', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('thousandths')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY thousandths_ready ON thousandths (due, id)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY thousandths_expired ON thousandths (taken)
WHERE  state = 'A';
