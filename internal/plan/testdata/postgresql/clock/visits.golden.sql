-- Package visitsq uses the table visits as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready or not by what it writes to seen
-- 	running  --Requeue---------> ready or not by what it writes to made
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates visits_ready.
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
-- note: on retry, column "seen" gets [{now} + interval '1 hour'] as qgen:on says, not now + {delay} as qgen:due would
-- note: whether Fail puts the job back is up to what it leaves in column "seen", which a condition on ready rows reads, and not known here
-- note: rows are taken as they came, by column "made"; order 1 at column "seen" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: rows without a value in column "made" stand last in the order, where PostgreSQL puts nulls (nulls=first puts them first)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (made, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* visitsq.Claim */ visits
SET    state = 'R',
       seen = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  state = 'N'
           AND    (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL)
           AND    (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0))
           ORDER  BY made, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, seen, made;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (made, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* visitsq.Claim */ visits
SET    state = 'R',
       seen = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  state = 'N'
           AND    (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL)
           AND    (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0))
           ORDER  BY made, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, seen, made;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (made, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* visitsq.Claim */ visits
SET    state = 'R',
       seen = (now() AT TIME ZONE 'UTC')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  state = 'N'
           AND    (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL)
           AND    (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0))
           ORDER  BY made, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, seen, made;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* visitsq.Complete */ visits
SET    state = 'D',
       made = (floor(extract(epoch FROM now()) * 1000)::bigint + 1000)
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'R' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready or not
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* visitsq.Fail */ visits
SET    state = 'N',
       seen = ((now() AT TIME ZONE 'UTC') + interval '1 hour')
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'R' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready or not, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* visitsq.Requeue */ visits
SET    state = 'N',
       seen = (now() AT TIME ZONE 'UTC') + make_interval(secs => $1),
       made = (extract(epoch FROM now()) * 1000)
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN state = 'R' THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* visitsq.Purge */ FROM visits
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  state = 'D'
           AND    made <= floor((extract(epoch FROM now()) - $1) * 1000)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Seen
INSERT /* visitsq.Enqueue */ INTO visits
       (id, seen, made)
VALUES ($1, $2, floor(extract(epoch FROM now()) * 1000)::bigint)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due and the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Seen
INSERT /* visitsq.EnqueueMany */ INTO visits
       (id, seen, made)
SELECT id_new, seen_new, floor(extract(epoch FROM now()) * 1000)::bigint
FROM   unnest($1::bigint[], $2::timestamp[]) WITH ORDINALITY AS job (id_new, seen_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* visitsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL) AND (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0))) AS ready,
       count(*) FILTER (WHERE state = 'R') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'N' AND seen > (now() AT TIME ZONE 'UTC')) AS delayed,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(made) FILTER (WHERE state = 'N' AND (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL) AND (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0)))) / 1000.0) AS oldest_ready
FROM   visits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (made, id) WHERE state = 'N'
SELECT /* visitsq.Backlog */
       count(*) FILTER (WHERE (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL) AND (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0))) AS ready,
       count(*) FILTER (WHERE seen > (now() AT TIME ZONE 'UTC')) AS delayed,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(made) FILTER (WHERE (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL) AND (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0)))) / 1000.0) AS oldest_ready
FROM   visits
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (made, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* visitsq.Peek */
       id, seen, made
FROM   visits
WHERE  state = 'N'
AND    (seen <= (now() AT TIME ZONE 'UTC') OR seen IS NULL)
AND    (seen < now() AT TIME ZONE 'UTC' AND made < coalesce(floor(extract(epoch FROM now()) * 1000)::bigint, 0))
ORDER  BY made, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* visitsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* visitsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('seen', 'timestamp'),
               ('made', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('visits')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* visitsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* visitsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('visits_ready', 'made, id', 'made, id', 'state=''n''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('visits')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY visits_ready ON visits (made, id)
WHERE  state = 'N';
