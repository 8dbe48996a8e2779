-- Package lanesq uses the table lanes as a queue of jobs on PostgreSQL 15 and later.
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
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Of the jobs that are alike in lane, at most 10 run at once; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment. It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates lanes_ready and lanes_group.
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
-- note: no order is said: rows are taken in the order of the key, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked; where all of these groups are, tries the first again, for 0.2 s or so
-- index: (lane, id NULLS FIRST) WHERE status = 'ENQUEUED'
-- isolation: read committed
-- arguments: 1: param lane string, 2: limit
WITH /* lanesq.Claim */ RECURSIVE candidate AS MATERIALIZED (
    SELECT *
    FROM   lanes
    WHERE  status = 'ENQUEUED'
    AND    lane = $1
    ORDER  BY id NULLS FIRST
    LIMIT  least($2, greatest(10 - (SELECT count(*)
               FROM   lanes AS other
               WHERE  other.lane = $1
               AND    other.status = 'PENDING'), 0))
    FOR    NO KEY UPDATE SKIP LOCKED
), look AS (
    SELECT 1 AS nth, bool_or(pg_try_advisory_xact_lock('lanes'::regclass::oid::int, hashtext(candidate.lane::text))) AS free
    FROM   candidate
    UNION  ALL
    SELECT look.nth + 1, CASE WHEN pg_sleep(0.002) IS NOT NULL THEN pg_try_advisory_xact_lock('lanes'::regclass::oid::int, hashtext(candidate.lane::text)) END
    FROM   look
    CROSS  JOIN (SELECT * FROM candidate LIMIT 1) AS candidate
    WHERE  look.free IS NOT TRUE
    AND    look.nth < 100
)
SELECT candidate.id
FROM   candidate
WHERE  CASE WHEN (SELECT bool_or(look.free) FROM look) THEN pg_try_advisory_xact_lock('lanes'::regclass::oid::int, hashtext(candidate.lane::text)) END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lanesq.Claim */ lanes
SET    status = 'PENDING'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(10 - (SELECT count(*)
               FROM   lanes AS other
               WHERE  other.lane = lanes.lane
               AND    other.status = 'PENDING'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM lanes AS other
                       WHERE  other.lane = lanes.lane
                       AND    other.status = 'ENQUEUED'
                       ORDER  BY other.id NULLS FIRST LIMIT room.n) AS other
               WHERE  other.id = lanes.id)
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, lane;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lanesq.Complete */ lanes
SET    status = 'SUCCESS'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN status = 'PENDING' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lanesq.Fail */ lanes
SET    status = 'ENQUEUED'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN status = 'PENDING' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lanesq.Requeue */ lanes
SET    status = 'ENQUEUED'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN status = 'PENDING' THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE status = 'SUCCESS' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lanesq.Purge */ FROM lanes
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   lanes
           WHERE  status = 'SUCCESS'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Lane
INSERT /* lanesq.Enqueue */ INTO lanes
       (id, lane, status)
VALUES ($1, $2, 'ENQUEUED')
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Lane
INSERT /* lanesq.EnqueueMany */ INTO lanes
       (id, lane, status)
SELECT id_new, lane_new, 'ENQUEUED'
FROM   unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS job (id_new, lane_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lanesq.Stats */
       count(*) FILTER (WHERE status = 'ENQUEUED') AS ready,
       count(*) FILTER (WHERE status = 'PENDING') AS running,
       count(*) FILTER (WHERE status = 'SUCCESS') AS done
FROM   lanes;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same lane is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param lane string
SELECT /* lanesq.StatsOf */
       count(*) FILTER (WHERE status = 'ENQUEUED') AS ready,
       count(*) FILTER (WHERE status = 'PENDING') AS running,
       count(*) FILTER (WHERE status = 'SUCCESS') AS done
FROM   lanes
WHERE  lane = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by lane
-- locks: none
-- index: (lane, id NULLS FIRST) WHERE status = 'ENQUEUED'
SELECT /* lanesq.Backlog */
       lane,
       count(*) AS ready
FROM   lanes
WHERE  status = 'ENQUEUED'
GROUP  BY lane
ORDER  BY lane;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (lane, id NULLS FIRST) WHERE status = 'ENQUEUED'
-- isolation: read committed
-- arguments: 1: param lane string, 2: limit
SELECT /* lanesq.Peek */
       id, lane
FROM   lanes
WHERE  status = 'ENQUEUED'
AND    lane = $1
ORDER  BY id NULLS FIRST
LIMIT  least($2, greatest(10 - (SELECT count(*)
               FROM   lanes AS other
               WHERE  other.lane = $1
               AND    other.status = 'PENDING'), 0));

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lanesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lanesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('lane', 'text'),
               ('status', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('lanes')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* lanesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lanesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('lanes_ready', 'lane, id nulls first', 'lane, id nulls first', 'status=''enqueued'''),
               ('lanes_group', 'lane', 'lane', 'status=''pending''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('lanes')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Claim: who is before a row in its group
CREATE INDEX CONCURRENTLY lanes_ready ON lanes (lane, id NULLS FIRST)
WHERE  status = 'ENQUEUED';

-- serves Claim: the running rows of a group
CREATE INDEX CONCURRENTLY lanes_group ON lanes (lane)
WHERE  status = 'PENDING';
