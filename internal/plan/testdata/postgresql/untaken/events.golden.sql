-- Package eventsq uses the table events as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready and events_expired.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "holder" does: a row is ready only while holder = '', and not where something else has left a value there
-- note: the fence compares column "held_at", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: worker Holder, 2: limit
UPDATE /* eventsq.Claim */ events
SET    holder = $1,
       held_at = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  state = 'waiting'
           AND    holder = ''
           ORDER  BY rank, id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, rank, holder, held_at;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: worker Holder
UPDATE /* eventsq.Claim */ events
SET    holder = $1,
       held_at = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  state = 'waiting'
           AND    holder = ''
           ORDER  BY rank, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, rank, holder, held_at;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: worker Holder
UPDATE /* eventsq.Claim */ events
SET    holder = $1,
       held_at = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  state = 'waiting'
           AND    holder = ''
           ORDER  BY rank, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, rank, holder, held_at;

-- sql/start.sql
-- start: claimed to running
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* eventsq.Start */ events
SET    state = 'busy'
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state = 'waiting'
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* eventsq.Complete */ events
SET    state = 'complete'
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* eventsq.Fail */ events
SET    state = 'failed'
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* eventsq.Requeue */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* eventsq.Extend */ events
SET    held_at = floor(extract(epoch FROM now()))::bigint
FROM   unnest($1::bigint[], $2::bigint[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id, held_at;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (held_at) WHERE state IN ('waiting', 'busy') AND holder <> ''
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  state IN ('waiting', 'busy')
           AND    holder <> ''
           AND    held_at <= floor(extract(epoch FROM now()) - 300)::bigint
           AND    held_at > 0
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Redrive */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'complete' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  state = 'complete'
           AND    held_at <= floor(extract(epoch FROM now()) - $1)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  state = 'failed'
           AND    held_at <= floor(extract(epoch FROM now()) - $1)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Rank
INSERT /* eventsq.Enqueue */ INTO events
       (rank, state, holder)
VALUES ($1, 'waiting', '')
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Rank
INSERT /* eventsq.EnqueueMany */ INTO events
       (rank, state, holder)
SELECT rank_new, 'waiting', ''
FROM   unnest($1::integer[]) WITH ORDINALITY AS job (rank_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(*) FILTER (WHERE state = 'waiting' AND holder = '') AS ready,
       count(*) FILTER (WHERE state = 'waiting' AND holder <> '') AS claimed,
       count(*) FILTER (WHERE state = 'busy' AND holder <> '') AS running,
       count(*) FILTER (WHERE state = 'complete') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('waiting', 'busy') AND holder <> '' AND held_at <= floor(extract(epoch FROM now()) - 300)::bigint AND held_at > 0) AS expired,
       (floor(extract(epoch FROM now()))::bigint - min(held_at) FILTER (WHERE state IN ('waiting', 'busy') AND holder <> '')) AS oldest_running
FROM   events;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''
SELECT /* eventsq.Backlog */
       count(*) AS ready
FROM   events
WHERE  state = 'waiting'
AND    holder = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       id, rank, holder, held_at
FROM   events
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY rank, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('rank', 'integer'),
               ('state', 'text'),
               ('holder', 'text'),
               ('held_at', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('events')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* eventsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('events_ready', 'rank, id', 'rank, id', 'state=''waiting''andholder='''''),
               ('events_expired', 'held_at', 'held_at', 'statein''waiting'',''busy''andholder<>''''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('events')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY events_ready ON events (rank, id)
WHERE  state = 'waiting'
AND    holder = '';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY events_expired ON events (held_at)
WHERE  state IN ('waiting', 'busy')
AND    holder <> '';
