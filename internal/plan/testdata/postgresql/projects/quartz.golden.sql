-- Package quartzq uses the table qrtz_triggers as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates qrtz_triggers_quartz_ready.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (sched_name, next_fire_time, priority DESC NULLS LAST, trigger_name, trigger_group) WHERE trigger_state = 'WAITING'
-- isolation: read committed
-- arguments: 1: param schedName string, 2: limit
WITH /* quartzq.Claim */ picked AS MATERIALIZED (
    SELECT sched_name, trigger_name, trigger_group
    FROM   qrtz_triggers
    WHERE  trigger_state = 'WAITING'
    AND    next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint
    AND    sched_name = $1
    ORDER  BY next_fire_time, priority DESC NULLS LAST, sched_name, trigger_name, trigger_group
    LIMIT  $2
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE qrtz_triggers
SET    trigger_state = 'ACQUIRED'
FROM   picked
WHERE  qrtz_triggers.sched_name = picked.sched_name
AND    qrtz_triggers.trigger_name = picked.trigger_name
AND    qrtz_triggers.trigger_group = picked.trigger_group
RETURNING qrtz_triggers.sched_name, qrtz_triggers.trigger_name,
          qrtz_triggers.trigger_group, qrtz_triggers.next_fire_time,
          qrtz_triggers.priority, qrtz_triggers.job_data;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (sched_name, next_fire_time, priority DESC NULLS LAST, trigger_name, trigger_group) WHERE trigger_state = 'WAITING'
-- isolation: read committed
-- arguments: 1: param schedName string
WITH /* quartzq.Claim */ picked AS MATERIALIZED (
    SELECT sched_name, trigger_name, trigger_group
    FROM   qrtz_triggers
    WHERE  trigger_state = 'WAITING'
    AND    next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint
    AND    sched_name = $1
    ORDER  BY next_fire_time, priority DESC NULLS LAST, sched_name, trigger_name, trigger_group
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE qrtz_triggers
SET    trigger_state = 'ACQUIRED'
FROM   picked
WHERE  qrtz_triggers.sched_name = picked.sched_name
AND    qrtz_triggers.trigger_name = picked.trigger_name
AND    qrtz_triggers.trigger_group = picked.trigger_group
RETURNING qrtz_triggers.sched_name, qrtz_triggers.trigger_name,
          qrtz_triggers.trigger_group, qrtz_triggers.next_fire_time,
          qrtz_triggers.priority, qrtz_triggers.job_data;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (sched_name, next_fire_time, priority DESC NULLS LAST, trigger_name, trigger_group) WHERE trigger_state = 'WAITING'
-- isolation: read committed
-- arguments: 1: param schedName string
WITH /* quartzq.Claim */ picked AS MATERIALIZED (
    SELECT sched_name, trigger_name, trigger_group
    FROM   qrtz_triggers
    WHERE  trigger_state = 'WAITING'
    AND    next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint
    AND    sched_name = $1
    ORDER  BY next_fire_time, priority DESC NULLS LAST, sched_name, trigger_name, trigger_group
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE qrtz_triggers
SET    trigger_state = 'ACQUIRED'
FROM   picked
WHERE  qrtz_triggers.sched_name = picked.sched_name
AND    qrtz_triggers.trigger_name = picked.trigger_name
AND    qrtz_triggers.trigger_group = picked.trigger_group
RETURNING qrtz_triggers.sched_name, qrtz_triggers.trigger_name,
          qrtz_triggers.trigger_group, qrtz_triggers.next_fire_time,
          qrtz_triggers.priority, qrtz_triggers.job_data;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch SchedName, 2: batch TriggerName, 3: batch TriggerGroup
UPDATE /* quartzq.Complete */ qrtz_triggers
SET    trigger_state = 'COMPLETE'
FROM   unnest($1::varchar[], $2::varchar[], $3::varchar[]) AS job (sched_name_held, trigger_name_held, trigger_group_held)
WHERE  sched_name = sched_name_held
AND    trigger_name = trigger_name_held
AND    trigger_group = trigger_group_held
AND    CASE WHEN trigger_state = 'ACQUIRED' THEN true END
RETURNING sched_name, trigger_name, trigger_group;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch SchedName, 2: batch TriggerName, 3: batch TriggerGroup
UPDATE /* quartzq.Fail */ qrtz_triggers
SET    trigger_state = 'ERROR'
FROM   unnest($1::varchar[], $2::varchar[], $3::varchar[]) AS job (sched_name_held, trigger_name_held, trigger_group_held)
WHERE  sched_name = sched_name_held
AND    trigger_name = trigger_name_held
AND    trigger_group = trigger_group_held
AND    CASE WHEN trigger_state = 'ACQUIRED' THEN true END
RETURNING sched_name, trigger_name, trigger_group;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch SchedName, 3: batch TriggerName, 4: batch TriggerGroup
UPDATE /* quartzq.Requeue */ qrtz_triggers
SET    next_fire_time = CASE WHEN $1 > 0.0 THEN floor((extract(epoch FROM now()) + $1) * 1000)::bigint ELSE next_fire_time END,
       trigger_state = 'WAITING'
FROM   unnest($2::varchar[], $3::varchar[], $4::varchar[]) AS job (sched_name_held, trigger_name_held, trigger_group_held)
WHERE  sched_name = sched_name_held
AND    trigger_name = trigger_name_held
AND    trigger_group = trigger_group_held
AND    CASE WHEN trigger_state = 'ACQUIRED' THEN true END
RETURNING sched_name, trigger_name, trigger_group;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* quartzq.Redrive */ picked AS MATERIALIZED (
    SELECT sched_name, trigger_name, trigger_group
    FROM   qrtz_triggers
    WHERE  trigger_state = 'ERROR'
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE qrtz_triggers
SET    trigger_state = 'WAITING'
FROM   picked
WHERE  qrtz_triggers.sched_name = picked.sched_name
AND    qrtz_triggers.trigger_name = picked.trigger_name
AND    qrtz_triggers.trigger_group = picked.trigger_group;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (sched_name, trigger_name, trigger_group) WHERE trigger_state = 'COMPLETE' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* quartzq.Purge */ picked AS MATERIALIZED (
    SELECT sched_name, trigger_name, trigger_group
    FROM   qrtz_triggers
    WHERE  trigger_state = 'COMPLETE'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM qrtz_triggers
USING  picked
WHERE  qrtz_triggers.sched_name = picked.sched_name
AND    qrtz_triggers.trigger_name = picked.trigger_name
AND    qrtz_triggers.trigger_group = picked.trigger_group;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (sched_name, trigger_name, trigger_group) WHERE trigger_state = 'ERROR' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* quartzq.Purge */ picked AS MATERIALIZED (
    SELECT sched_name, trigger_name, trigger_group
    FROM   qrtz_triggers
    WHERE  trigger_state = 'ERROR'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM qrtz_triggers
USING  picked
WHERE  qrtz_triggers.sched_name = picked.sched_name
AND    qrtz_triggers.trigger_name = picked.trigger_name
AND    qrtz_triggers.trigger_group = picked.trigger_group;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new SchedName, 2: new TriggerName, 3: new TriggerGroup, 4: new NextFireTime, 5: new Priority, 6: new JobData
INSERT /* quartzq.Enqueue */ INTO qrtz_triggers
       (sched_name, trigger_name, trigger_group, next_fire_time, priority, trigger_state,
        job_data)
VALUES ($1, $2, $3, $4, $5, 'WAITING', $6)
RETURNING sched_name, trigger_name, trigger_group;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch SchedName, 2: new_batch TriggerName, 3: new_batch TriggerGroup, 4: new_batch NextFireTime, 5: new_batch Priority, 6: new_batch JobData
INSERT /* quartzq.EnqueueMany */ INTO qrtz_triggers
       (sched_name, trigger_name, trigger_group, next_fire_time, priority, trigger_state,
        job_data)
SELECT sched_name_new, trigger_name_new, trigger_group_new, next_fire_time_new,
       priority_new, 'WAITING', job_data_new
FROM   unnest($1::varchar[], $2::varchar[], $3::varchar[], $4::bigint[],
              $5::integer[], $6::bytea[]) WITH ORDINALITY AS job (sched_name_new, trigger_name_new, trigger_group_new, next_fire_time_new, priority_new, job_data_new, job_order)
ORDER  BY job_order
RETURNING sched_name, trigger_name, trigger_group;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* quartzq.Stats */
       count(*) FILTER (WHERE trigger_state = 'WAITING' AND next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint) AS ready,
       count(*) FILTER (WHERE trigger_state = 'ACQUIRED') AS running,
       count(*) FILTER (WHERE trigger_state = 'COMPLETE') AS done,
       count(*) FILTER (WHERE trigger_state = 'ERROR') AS failed,
       count(*) FILTER (WHERE trigger_state = 'WAITING' AND next_fire_time > floor(extract(epoch FROM now()) * 1000)::bigint) AS delayed,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(next_fire_time) FILTER (WHERE trigger_state = 'WAITING' AND next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint)) / 1000.0) AS oldest_ready
FROM   qrtz_triggers;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same sched_name is for
-- locks: none
-- index: the primary key (sched_name, trigger_name, trigger_group)
-- arguments: 1: param schedName string
SELECT /* quartzq.StatsOf */
       count(*) FILTER (WHERE trigger_state = 'WAITING' AND next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint) AS ready,
       count(*) FILTER (WHERE trigger_state = 'ACQUIRED') AS running,
       count(*) FILTER (WHERE trigger_state = 'COMPLETE') AS done,
       count(*) FILTER (WHERE trigger_state = 'ERROR') AS failed,
       count(*) FILTER (WHERE trigger_state = 'WAITING' AND next_fire_time > floor(extract(epoch FROM now()) * 1000)::bigint) AS delayed,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(next_fire_time) FILTER (WHERE trigger_state = 'WAITING' AND next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint)) / 1000.0) AS oldest_ready
FROM   qrtz_triggers
WHERE  sched_name = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by sched_name
-- locks: none
-- index: (sched_name, next_fire_time, priority DESC NULLS LAST, trigger_name, trigger_group) WHERE trigger_state = 'WAITING'
SELECT /* quartzq.Backlog */
       sched_name,
       count(*) FILTER (WHERE next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint) AS ready,
       count(*) FILTER (WHERE next_fire_time > floor(extract(epoch FROM now()) * 1000)::bigint) AS delayed,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(next_fire_time) FILTER (WHERE next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint)) / 1000.0) AS oldest_ready
FROM   qrtz_triggers
WHERE  trigger_state = 'WAITING'
GROUP  BY sched_name
HAVING count(*) FILTER (WHERE next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint) > 0
OR     count(*) FILTER (WHERE next_fire_time > floor(extract(epoch FROM now()) * 1000)::bigint) > 0
ORDER  BY sched_name;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (sched_name, next_fire_time, priority DESC NULLS LAST, trigger_name, trigger_group) WHERE trigger_state = 'WAITING'
-- isolation: read committed
-- arguments: 1: param schedName string, 2: limit
SELECT /* quartzq.Peek */
       sched_name, trigger_name, trigger_group, next_fire_time, priority, job_data
FROM   qrtz_triggers
WHERE  trigger_state = 'WAITING'
AND    next_fire_time <= floor(extract(epoch FROM now()) * 1000)::bigint
AND    sched_name = $1
ORDER  BY next_fire_time, priority DESC NULLS LAST, sched_name, trigger_name, trigger_group
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* quartzq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* quartzq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('sched_name', 'varchar'),
               ('trigger_name', 'varchar'),
               ('trigger_group', 'varchar'),
               ('next_fire_time', 'bigint'),
               ('priority', 'integer'),
               ('trigger_state', 'varchar'),
               ('job_data', 'bytea')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('qrtz_triggers')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* quartzq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* quartzq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('qrtz_triggers_quartz_ready', 'sched_name, next_fire_time, priority desc nulls last, trigger_name, trigger_group', 'sched_name, next_fire_time, priority desc nulls last, trigger_name, trigger_group', 'trigger_state=''waiting''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('qrtz_triggers')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY qrtz_triggers_quartz_ready ON qrtz_triggers (sched_name, next_fire_time, priority DESC NULLS LAST, trigger_name, trigger_group)
WHERE  trigger_state = 'WAITING';
