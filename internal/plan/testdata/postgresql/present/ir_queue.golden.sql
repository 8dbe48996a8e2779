-- Package irqueue uses the table ir_queue as a queue of jobs on PostgreSQL 15 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes notes (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates ir_queue_ready.
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
-- note: on enqueue, column "enqueued_at" gets [(select {now} from (select 1) n)] as qgen:on says, not now as qgen:enqueued would
-- note: on retry, column "scheduled_at" gets [{now} + random() * interval '1 hour'] as qgen:on says, not now + {delay} as qgen:due would
-- note: rows are taken as they came, by column "id"; order 1 at column "scheduled_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE dequeued_at IS NULL AND finished_at IS NULL
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* irqueue.Claim */ ir_queue
SET    dequeued_at = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ir_queue
           WHERE  dequeued_at IS NULL
           AND    finished_at IS NULL
           AND    (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, name, scheduled_at, enqueued_at, dequeued_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE dequeued_at IS NULL AND finished_at IS NULL
-- isolation: read committed
-- arguments: 1: low
UPDATE /* irqueue.Claim */ ir_queue
SET    dequeued_at = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ir_queue
           WHERE  dequeued_at IS NULL
           AND    finished_at IS NULL
           AND    (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, name, scheduled_at, enqueued_at, dequeued_at;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE dequeued_at IS NULL AND finished_at IS NULL
-- isolation: read committed
-- arguments: 1: low
UPDATE /* irqueue.Claim */ ir_queue
SET    dequeued_at = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ir_queue
           WHERE  dequeued_at IS NULL
           AND    finished_at IS NULL
           AND    (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, name, scheduled_at, enqueued_at, dequeued_at;

-- sql/complete.sql
-- complete: running to done; adds rows to notes
-- fence: dequeued_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch DequeuedAt
WITH /* irqueue.Complete */ held AS (
    UPDATE ir_queue
    SET    finished_at = (now() AT TIME ZONE 'UTC')
    FROM   unnest($1::bigint[], $2::timestamp[]) AS job (id_held, dequeued_at_held)
    WHERE  id = id_held
    AND    CASE WHEN dequeued_at = dequeued_at_held
                AND    dequeued_at IS NOT NULL
                AND    finished_at IS NULL THEN true END
    RETURNING id
),
added AS (
    INSERT INTO notes
           (told_at, seen_at)
    SELECT ((now() AT TIME ZONE 'UTC') + interval '1 hour'), (now() + interval '1 hour')
    FROM   held
)
SELECT id
FROM   held;

-- sql/retry.sql
-- retry: running to ready
-- fence: dequeued_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch DequeuedAt
UPDATE /* irqueue.Fail */ ir_queue
SET    scheduled_at = ((now() AT TIME ZONE 'UTC') + random() * interval '1 hour'),
       dequeued_at = NULL,
       finished_at = NULL
FROM   unnest($1::bigint[], $2::timestamp[]) AS job (id_held, dequeued_at_held)
WHERE  id = id_held
AND    CASE WHEN dequeued_at = dequeued_at_held
            AND    dequeued_at IS NOT NULL
            AND    finished_at IS NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: dequeued_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch DequeuedAt
UPDATE /* irqueue.Requeue */ ir_queue
SET    scheduled_at = CASE WHEN $1 > 0.0 THEN (now() AT TIME ZONE 'UTC') + make_interval(secs => $1) ELSE scheduled_at END,
       dequeued_at = NULL,
       finished_at = NULL
FROM   unnest($2::bigint[], $3::timestamp[]) AS job (id_held, dequeued_at_held)
WHERE  id = id_held
AND    CASE WHEN dequeued_at = dequeued_at_held
            AND    dequeued_at IS NOT NULL
            AND    finished_at IS NULL THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (finished_at) WHERE finished_at IS NOT NULL would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* irqueue.Purge */ FROM ir_queue
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   ir_queue
           WHERE  finished_at IS NOT NULL
           AND    finished_at <= (now() AT TIME ZONE 'UTC') - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Name, 2: new ScheduledAt
INSERT /* irqueue.Enqueue */ INTO ir_queue
       (name, scheduled_at, enqueued_at)
VALUES ($1, $2, ((select (now() AT TIME ZONE 'UTC') from (select 1) n)))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Name, 2: new_batch ScheduledAt
INSERT /* irqueue.EnqueueMany */ INTO ir_queue
       (name, scheduled_at, enqueued_at)
SELECT name_new, scheduled_at_new, ((select (now() AT TIME ZONE 'UTC') from (select 1) n))
FROM   unnest($1::text[], $2::timestamp[]) WITH ORDINALITY AS job (name_new, scheduled_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* irqueue.Stats */
       count(*) FILTER (WHERE dequeued_at IS NULL AND finished_at IS NULL AND (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL)) AS ready,
       count(*) FILTER (WHERE dequeued_at IS NOT NULL AND finished_at IS NULL) AS running,
       count(*) FILTER (WHERE finished_at IS NOT NULL) AS done,
       count(*) FILTER (WHERE dequeued_at IS NULL AND finished_at IS NULL AND scheduled_at > (now() AT TIME ZONE 'UTC')) AS delayed,
       extract(epoch FROM (now() AT TIME ZONE 'UTC') - min(enqueued_at) FILTER (WHERE dequeued_at IS NULL AND finished_at IS NULL AND (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL))) AS oldest_ready,
       extract(epoch FROM (now() AT TIME ZONE 'UTC') - min(dequeued_at) FILTER (WHERE dequeued_at IS NOT NULL AND finished_at IS NULL)) AS oldest_running,
       avg(extract(epoch FROM dequeued_at - enqueued_at)) FILTER (WHERE finished_at IS NOT NULL) AS mean_wait,
       avg(extract(epoch FROM finished_at - dequeued_at)) FILTER (WHERE finished_at IS NOT NULL) AS mean_run
FROM   ir_queue;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE dequeued_at IS NULL AND finished_at IS NULL
SELECT /* irqueue.Backlog */
       count(*) FILTER (WHERE (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL)) AS ready,
       count(*) FILTER (WHERE scheduled_at > (now() AT TIME ZONE 'UTC')) AS delayed,
       extract(epoch FROM (now() AT TIME ZONE 'UTC') - min(enqueued_at) FILTER (WHERE (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL))) AS oldest_ready
FROM   ir_queue
WHERE  dequeued_at IS NULL
AND    finished_at IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE dequeued_at IS NULL AND finished_at IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* irqueue.Peek */
       id, name, scheduled_at, enqueued_at
FROM   ir_queue
WHERE  dequeued_at IS NULL
AND    finished_at IS NULL
AND    (scheduled_at <= (now() AT TIME ZONE 'UTC') OR scheduled_at IS NULL)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* irqueue.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* irqueue.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('name', 'text'),
               ('scheduled_at', 'timestamp'),
               ('enqueued_at', 'timestamp'),
               ('dequeued_at', 'timestamp'),
               ('finished_at', 'timestamp')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('ir_queue')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of notes
-- locks: none
SELECT /* irqueue.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('told_at', 'timestamp'),
               ('seen_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('notes')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* irqueue.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* irqueue.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('ir_queue_ready', 'id nulls first', 'id nulls first', 'dequeued_atisnullandfinished_atisnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('ir_queue')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY ir_queue_ready ON ir_queue (id NULLS FIRST)
WHERE  dequeued_at IS NULL
AND    finished_at IS NULL;
