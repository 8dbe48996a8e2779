-- Package runsq uses the table runs as a queue of jobs on PostgreSQL 15 and later.
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
-- index: runs_open (queued, id) WHERE state NOT IN ('done', 'failed'); rows that somebody has are few, and are read and passed over
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       started = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'queued'
           ORDER  BY queued, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queued, host, started;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: runs_open (queued, id) WHERE state NOT IN ('done', 'failed'); rows that somebody has are few, and are read and passed over
-- isolation: read committed
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       started = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'queued'
           ORDER  BY queued, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queued, host, started;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: runs_open (queued, id) WHERE state NOT IN ('done', 'failed'); rows that somebody has are few, and are read and passed over
-- isolation: read committed
UPDATE /* runsq.Claim */ runs
SET    state = 'busy',
       started = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'queued'
           ORDER  BY queued, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queued, host, started;

-- sql/complete.sql
-- complete: running to done
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* runsq.Complete */ runs
SET    state = 'done'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* runsq.Fail */ runs
SET    state = 'failed'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* runsq.Requeue */ runs
SET    state = 'queued',
       started = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* runsq.Extend */ runs
SET    started = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'busy' THEN true END
RETURNING id, started;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: runs_hosts (host) WHERE state = 'busy', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'queued',
       started = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'busy'
           AND    started <= now() - interval '30 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'queued',
       started = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (started) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'done'
           AND    started <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (started) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'failed'
           AND    started <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Queued, 3: new Host
INSERT /* runsq.Enqueue */ INTO runs
       (id, queued, host)
VALUES ($1, $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Queued, 3: new_batch Host
INSERT /* runsq.EnqueueMany */ INTO runs
       (id, queued, host)
SELECT id_new, queued_new, host_new
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) WITH ORDINALITY AS job (id_new, queued_new, host_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE state = 'queued') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND started <= now() - interval '30 minutes') AS expired,
       extract(epoch FROM now() - min(started) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'queued';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: runs_open (queued, id) WHERE state NOT IN ('done', 'failed'); rows that somebody has are few, and are read and passed over
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, queued, host
FROM   runs
WHERE  state = 'queued'
ORDER  BY queued, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('queued', 'timestamptz'),
               ('host', 'text'),
               ('started', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* runsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('runs_open', 'queued', 'queued', 'statenotin''done'',''failed'''),
               ('runs_hosts', 'host', 'host', 'state=''busy''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('runs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that somebody has are few, and are read and passed over: runs_open serves already

-- serves Recover: rows that somebody has, which are few: runs_hosts serves already
