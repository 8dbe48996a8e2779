-- Package statedq uses the table chunk as a queue of jobs on PostgreSQL 15 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates chunk_expired.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: chunk_step (run_id, step_id, state, seq, id)
-- isolation: read committed
-- arguments: 1: param runID string, 2: param stepID string, 3: param state string, 4: limit
UPDATE /* statedq.Claim */ chunk
SET    state = 'RUNNING',
       started = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   chunk
           WHERE  state IN ('READY', 'QUEUED', 'ERRORED')
           AND    run_id = $1
           AND    step_id = $2
           AND    state = $3
           ORDER  BY seq, id
           LIMIT  $4
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_id, step_id, seq, started;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: chunk_step (run_id, step_id, state, seq, id)
-- isolation: read committed
-- arguments: 1: param runID string, 2: param stepID string, 3: param state string
UPDATE /* statedq.Claim */ chunk
SET    state = 'RUNNING',
       started = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   chunk
           WHERE  state IN ('READY', 'QUEUED', 'ERRORED')
           AND    run_id = $1
           AND    step_id = $2
           AND    state = $3
           ORDER  BY seq, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_id, step_id, seq, started;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: chunk_step (run_id, step_id, state, seq, id)
-- isolation: read committed
-- arguments: 1: param runID string, 2: param stepID string, 3: param state string
UPDATE /* statedq.Claim */ chunk
SET    state = 'RUNNING',
       started = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   chunk
           WHERE  state IN ('READY', 'QUEUED', 'ERRORED')
           AND    run_id = $1
           AND    step_id = $2
           AND    state = $3
           ORDER  BY seq, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_id, step_id, seq, started;

-- sql/complete.sql
-- complete: running to done
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* statedq.Complete */ chunk
SET    state = 'COMPLETED'
FROM   unnest($1::varchar[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'RUNNING' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* statedq.Fail */ chunk
SET    state = 'FAILED'
FROM   unnest($1::varchar[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'RUNNING' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* statedq.Requeue */ chunk
SET    state = 'READY',
       started = NULL
FROM   unnest($1::varchar[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'RUNNING' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: started as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Started
UPDATE /* statedq.Extend */ chunk
SET    started = now()
FROM   unnest($1::varchar[], $2::timestamptz[]) AS job (id_held, started_held)
WHERE  id = id_held
AND    CASE WHEN started = started_held
            AND    state = 'RUNNING' THEN true END
RETURNING id, started;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (started) WHERE state = 'RUNNING'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* statedq.Recover */ chunk
SET    state = 'READY',
       started = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   chunk
           WHERE  state = 'RUNNING'
           AND    started <= now() - interval '1 hour'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* statedq.Redrive */ chunk
SET    state = 'READY',
       started = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   chunk
           WHERE  state = 'FAILED'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (started) WHERE state = 'COMPLETED' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* statedq.Purge */ FROM chunk
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   chunk
           WHERE  state = 'COMPLETED'
           AND    started <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (started) WHERE state = 'FAILED' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* statedq.Purge */ FROM chunk
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   chunk
           WHERE  state = 'FAILED'
           AND    started <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new RunID, 3: new StepID, 4: new Seq
INSERT /* statedq.Enqueue */ INTO chunk
       (id, run_id, step_id, seq, state)
VALUES ($1, $2, $3, $4, 'READY')
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch RunID, 3: new_batch StepID, 4: new_batch Seq
INSERT /* statedq.EnqueueMany */ INTO chunk
       (id, run_id, step_id, seq, state)
SELECT id_new, run_id_new, step_id_new, seq_new, 'READY'
FROM   unnest($1::varchar[], $2::varchar[], $3::varchar[], $4::integer[]) WITH ORDINALITY AS job (id_new, run_id_new, step_id_new, seq_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* statedq.Stats */
       count(*) FILTER (WHERE state IN ('READY', 'QUEUED', 'ERRORED')) AS ready,
       count(*) FILTER (WHERE state = 'RUNNING') AS running,
       count(*) FILTER (WHERE state = 'COMPLETED') AS done,
       count(*) FILTER (WHERE state = 'FAILED') AS failed,
       count(*) FILTER (WHERE state = 'RUNNING' AND started <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(started) FILTER (WHERE state = 'RUNNING')) AS oldest_running
FROM   chunk;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same run_id, step_id and state is for
-- locks: none
-- index: chunk_step (run_id, step_id, state, seq, id)
-- arguments: 1: param runID string, 2: param stepID string, 3: param state string
SELECT /* statedq.StatsOf */
       count(*) FILTER (WHERE state IN ('READY', 'QUEUED', 'ERRORED')) AS ready,
       count(*) FILTER (WHERE state = 'RUNNING') AS running,
       count(*) FILTER (WHERE state = 'COMPLETED') AS done,
       count(*) FILTER (WHERE state = 'FAILED') AS failed,
       count(*) FILTER (WHERE state = 'RUNNING' AND started <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(started) FILTER (WHERE state = 'RUNNING')) AS oldest_running
FROM   chunk
WHERE  run_id = $1
AND    step_id = $2
AND    state = $3;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by run_id, step_id and state
-- locks: none
-- index: chunk_step (run_id, step_id, state, seq, id); it looks through all of that index
SELECT /* statedq.Backlog */
       run_id,
       step_id,
       state,
       count(*) AS ready
FROM   chunk
WHERE  state IN ('READY', 'QUEUED', 'ERRORED')
GROUP  BY run_id, step_id, state
ORDER  BY run_id, step_id, state;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: chunk_step (run_id, step_id, state, seq, id)
-- isolation: read committed
-- arguments: 1: param runID string, 2: param stepID string, 3: param state string, 4: limit
SELECT /* statedq.Peek */
       id, run_id, step_id, seq
FROM   chunk
WHERE  state IN ('READY', 'QUEUED', 'ERRORED')
AND    run_id = $1
AND    step_id = $2
AND    state = $3
ORDER  BY seq, id
LIMIT  $4;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* statedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* statedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'varchar'),
               ('run_id', 'varchar'),
               ('step_id', 'varchar'),
               ('seq', 'integer'),
               ('state', 'varchar'),
               ('started', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('chunk')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* statedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* statedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('chunk_step', 'run_id, step_id, state, seq, id', 'run_id, step_id, state, seq, id', ''),
               ('chunk_expired', 'started', 'started', 'state=''running''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('chunk')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: chunk_step serves already

-- serves Recover: claims that ran out
-- chunkq advises the same
CREATE INDEX CONCURRENTLY chunk_expired ON chunk (started)
WHERE  state = 'RUNNING';
