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
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready and runs_expired.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where (exists (select 1 from crons c where c.id = {new}.cron and c.status <> 'stop') and not exists (select 1 from runs q where q.cron = {new}.cron and q.created > {arg:seen})), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it
-- note: enqueue=absent leaves a job out where a row is like it in cron, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE status = 'wait'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* runsq.Claim */ runs
SET    status = 'doing',
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  status = 'wait'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, cron, created, since;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE status = 'wait'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* runsq.Claim */ runs
SET    status = 'doing',
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  status = 'wait'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, cron, created, since;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE status = 'wait'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* runsq.Claim */ runs
SET    status = 'doing',
       since = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  status = 'wait'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, cron, created, since;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
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
-- isolation: read committed
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
-- isolation: read committed
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
-- isolation: read committed
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
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (since) WHERE status = 'doing'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    status = 'wait',
       since = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  status = 'doing'
           AND    since <= now() - interval '1 hour'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    status = 'wait',
       since = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  status = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'done' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  status = 'done'
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  status = 'failed'
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue_gate.sql
-- enqueue: jobs that are alike in cron are added one after the other, so that enqueue_if sees all of them that are there
-- locks: a number made of the table and these columns, and one of the table that producers share, until commit
-- index: none; it reads nothing
-- isolation: read committed
-- arguments: 1: new Cron
SELECT /* runsq.Enqueue */
       1
FROM   pg_advisory_xact_lock('runs'::regclass::oid::int, hashtext('enqueue ' || concat_ws(' ', $1::integer))),
       pg_advisory_xact_lock_shared('runs'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue_alone.sql
-- enqueue: a call with more than 100 jobs adds them while no other producer adds any
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
SELECT /* runsq.EnqueueMany */
       1
FROM   pg_advisory_xact_lock('runs'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none, unless one is like it in cron, of those that are ready: then it adds none
-- locks: the new row, until commit
-- index: runs_cron (cron, status); whichever finds the rows of enqueue_if
-- isolation: read committed
-- arguments: 1: new Cron, 2: new Seen
INSERT /* runsq.Enqueue */ INTO runs
       (cron, created)
SELECT $1::integer, now()
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('enqueue_if is asked in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END
AND    (exists (select 1 from crons c where c.id = $1::integer and c.status <> 'stop') and not exists (select 1 from runs q where q.cron = $1::integer and q.created > $2::timestamptz))
AND    NOT EXISTS (
           SELECT 1
           FROM   runs
           WHERE  cron = $1::integer
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
-- index: (id NULLS FIRST) WHERE status = 'wait'
SELECT /* runsq.Backlog */
       count(*) AS ready,
       extract(epoch FROM now() - min(created)) AS oldest_ready
FROM   runs
WHERE  status = 'wait';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE status = 'wait'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id, cron, created
FROM   runs
WHERE  status = 'wait'
ORDER  BY id NULLS FIRST
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
               ('cron', 'integer'),
               ('created', 'timestamptz'),
               ('status', 'varchar'),
               ('since', 'timestamptz')) AS want (name, type)
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
FROM   (VALUES ('runs_ready', 'id nulls first', 'id nulls first', 'status=''wait'''),
               ('runs_expired', 'since', 'since', 'status=''doing'''),
               ('runs_cron', 'cron, status', 'cron, status', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY runs_ready ON runs (id NULLS FIRST)
WHERE  status = 'wait';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY runs_expired ON runs (since)
WHERE  status = 'doing';

-- serves Enqueue: the rows that are like a new job: runs_cron serves already
