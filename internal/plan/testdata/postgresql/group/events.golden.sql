-- Package eventsq uses the table events as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Of the jobs that are alike in host_id and kind, one runs at once; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready.
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
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     the running rows of a group are counted behind locks, in a statement of their own
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for host_id and kind has it read rows of one group alone
-- note: rows without a value in column "made_at" stand last in the order, where PostgreSQL puts nulls (nulls=first puts them first)

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (made_at, id) WHERE busy = false
-- isolation: read committed
-- arguments: 1: limit
WITH /* eventsq.Claim */ candidate AS MATERIALIZED (
    SELECT *
    FROM   events
    WHERE  busy = false
    AND    CASE WHEN (events.host_id, events.kind) IN (SELECT other.host_id, other.kind
               FROM   (SELECT other.host_id, other.kind FROM events AS other
                       WHERE  other.busy = true
                       ORDER  BY other.host_id, other.kind LIMIT 1000) AS other
               GROUP  BY other.host_id, other.kind
               HAVING count(*) >= 1) THEN false ELSE true END
    AND    CASE WHEN (SELECT 1
               FROM   events AS other
               WHERE  other.host_id = events.host_id
               AND    other.kind = events.kind
               AND    other.busy = true
               LIMIT  1) IS NULL THEN true END
    AND    CASE WHEN events.id = (SELECT other.id
               FROM   events AS other
               WHERE  other.host_id = events.host_id
               AND    other.kind = events.kind
               AND    other.busy = false
               ORDER  BY other.made_at, other.id
               LIMIT  1) THEN true END
    ORDER  BY made_at, id
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
SELECT candidate.id
FROM   candidate
WHERE  pg_try_advisory_xact_lock('events'::regclass::oid::int, hashtext(candidate.host_id::text || ' ' || candidate.kind::text));

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* eventsq.Claim */ events
SET    busy = true
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN (SELECT count(*)
               FROM   events AS other
               WHERE  other.host_id = events.host_id
               AND    other.kind = events.kind
               AND    other.busy = true) = 0
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, host_id, kind, made_at;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* eventsq.Complete */ FROM events
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN busy = true THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* eventsq.Fail */ events
SET    busy = false
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN busy = true THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* eventsq.Requeue */ events
SET    busy = false
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN busy = true THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new HostID, 2: new Kind
INSERT /* eventsq.Enqueue */ INTO events
       (host_id, kind, made_at)
VALUES ($1, $2, now())
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch HostID, 2: new_batch Kind
INSERT /* eventsq.EnqueueMany */ INTO events
       (host_id, kind, made_at)
SELECT host_id_new, kind_new, now()
FROM   unnest($1::integer[], $2::text[]) WITH ORDINALITY AS job (host_id_new, kind_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(*) FILTER (WHERE busy = false) AS ready,
       count(*) FILTER (WHERE busy = true) AS running,
       extract(epoch FROM now() - min(made_at) FILTER (WHERE busy = false)) AS oldest_ready
FROM   events;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (made_at, id) WHERE busy = false
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       id, host_id, kind, made_at
FROM   events
WHERE  busy = false
AND    CASE WHEN (events.host_id, events.kind) IN (SELECT other.host_id, other.kind
               FROM   (SELECT other.host_id, other.kind FROM events AS other
                       WHERE  other.busy = true
                       ORDER  BY other.host_id, other.kind LIMIT 1000) AS other
               GROUP  BY other.host_id, other.kind
               HAVING count(*) >= 1) THEN false ELSE true END
AND    CASE WHEN (SELECT 1
               FROM   events AS other
               WHERE  other.host_id = events.host_id
               AND    other.kind = events.kind
               AND    other.busy = true
               LIMIT  1) IS NULL THEN true END
AND    CASE WHEN events.id = (SELECT other.id
               FROM   events AS other
               WHERE  other.host_id = events.host_id
               AND    other.kind = events.kind
               AND    other.busy = false
               ORDER  BY other.made_at, other.id
               LIMIT  1) THEN true END
ORDER  BY made_at, id
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
               ('host_id', 'integer'),
               ('kind', 'text'),
               ('busy', 'boolean'),
               ('made_at', 'timestamptz')) AS want (name, type)
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
FROM   (VALUES ('events_ready', 'made_at, id', 'made_at, id', 'busy=false'),
               ('events_of_hosts', 'host_id, kind, busy', 'host_id, kind, busy', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY events_ready ON events (made_at, id)
WHERE  busy = false;

-- serves Claim: the running rows of a group; it also serves Claim: who is before a row in its group; rows of one made_at are sorted by the key: events_of_hosts serves already
