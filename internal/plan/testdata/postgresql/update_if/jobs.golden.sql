-- Package jobsq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
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
-- note: enqueue=update changes the row that is like a new job in uid (unique key jobs_uid), where ({row}.state <> 'running' and (data <> {new}.data or {row}.scheduled <> {new}.scheduled)), and leaves it alone where that does not hold: data = {data}, priority = {priority} unless nil, state = 'scheduled', scheduled = {scheduled} unless nil

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Claim */ jobs
SET    state = 'running',
       deadline = now() + interval '10 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'scheduled'
           AND    scheduled <= now()
           ORDER  BY priority DESC, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, uid, data, priority, scheduled, deadline;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'
-- isolation: read committed
UPDATE /* jobsq.Claim */ jobs
SET    state = 'running',
       deadline = now() + interval '10 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'scheduled'
           AND    scheduled <= now()
           ORDER  BY priority DESC, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, uid, data, priority, scheduled, deadline;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'
-- isolation: read committed
UPDATE /* jobsq.Claim */ jobs
SET    state = 'running',
       deadline = now() + interval '10 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'scheduled'
           AND    scheduled <= now()
           ORDER  BY priority DESC, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, uid, data, priority, scheduled, deadline;

-- sql/complete.sql
-- complete: running to done
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Deadline
UPDATE /* jobsq.Complete */ jobs
SET    state = 'finished',
       deadline = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, deadline_held)
WHERE  id = id_held
AND    CASE WHEN deadline = deadline_held
            AND    state = 'running' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Deadline
UPDATE /* jobsq.Fail */ jobs
SET    state = 'failed',
       deadline = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, deadline_held)
WHERE  id = id_held
AND    CASE WHEN deadline = deadline_held
            AND    state = 'running' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Deadline
UPDATE /* jobsq.Requeue */ jobs
SET    state = 'scheduled',
       scheduled = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE scheduled END,
       deadline = NULL
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, deadline_held)
WHERE  id = id_held
AND    CASE WHEN deadline = deadline_held
            AND    state = 'running' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: deadline as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Deadline
UPDATE /* jobsq.Extend */ jobs
SET    deadline = now() + interval '10 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, deadline_held)
WHERE  id = id_held
AND    CASE WHEN deadline = deadline_held
            AND    state = 'running' THEN true END
RETURNING id, deadline;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (deadline) WHERE state = 'running'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 'scheduled',
       deadline = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'running'
           AND    deadline <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    state = 'scheduled',
       deadline = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'finished' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'finished'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due; or what it changes of the row that is like it in uid (unique key jobs_uid), where update_if holds for that; else it is left alone, and nothing comes back
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new UID, 2: new Data, 3: new Priority, 4: new Scheduled
INSERT /* jobsq.Enqueue */ INTO jobs
       (uid, data, priority, scheduled)
VALUES ($1, $2, coalesce($3::integer, 0), coalesce($4::timestamptz, now()))
ON     CONFLICT (uid) DO UPDATE
SET    data = excluded.data,
       priority = coalesce($3::integer, jobs.priority),
       state = 'scheduled',
       scheduled = coalesce($4::timestamptz, jobs.scheduled)
WHERE  (jobs.state <> 'running' and (jobs.data <> excluded.data or jobs.scheduled <> excluded.scheduled))
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE state = 'scheduled' AND scheduled <= now()) AS ready,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'finished') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'scheduled' AND scheduled > now()) AS delayed,
       count(*) FILTER (WHERE state = 'running' AND deadline <= now()) AS expired,
       extract(epoch FROM now() - min(scheduled) FILTER (WHERE state = 'scheduled' AND scheduled <= now())) AS oldest_ready
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'
SELECT /* jobsq.Backlog */
       count(*) FILTER (WHERE scheduled <= now()) AS ready,
       count(*) FILTER (WHERE scheduled > now()) AS delayed,
       extract(epoch FROM now() - min(scheduled) FILTER (WHERE scheduled <= now())) AS oldest_ready
FROM   jobs
WHERE  state = 'scheduled';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, uid, data, priority, scheduled
FROM   jobs
WHERE  state = 'scheduled'
AND    scheduled <= now()
ORDER  BY priority DESC, id
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
               ('uid', 'text'),
               ('data', 'text'),
               ('priority', 'integer'),
               ('state', 'text'),
               ('scheduled', 'timestamptz'),
               ('deadline', 'timestamptz')) AS want (name, type)
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_ready', 'priority desc, id', 'priority desc, id', 'state=''scheduled'''),
               ('jobs_expired', 'deadline', 'deadline', 'state=''running''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY jobs_ready ON jobs (priority DESC, id, scheduled)
WHERE  state = 'scheduled';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY jobs_expired ON jobs (deadline)
WHERE  state = 'running';
