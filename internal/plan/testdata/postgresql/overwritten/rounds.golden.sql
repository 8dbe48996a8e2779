-- Package roundsq uses the table rounds as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- A job never ends: Complete makes it ready again, due by what sql/complete.sql writes to after. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates rounds_ready.
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
-- note: on done, column "after" gets [after + interval '1 hour'] as qgen:on says, not now + every × 1m as qgen:due would
-- note: rows are taken as they came, by column "id"; order 1 at column "after" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, after) WHERE state = 'idle'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* roundsq.Claim */ rounds
SET    state = 'busy'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   rounds
           WHERE  state = 'idle'
           AND    after <= now()
           ORDER  BY id NULLS FIRST
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, every, after;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, after) WHERE state = 'idle'
-- isolation: read committed
UPDATE /* roundsq.Claim */ rounds
SET    state = 'busy'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   rounds
           WHERE  state = 'idle'
           AND    after <= now()
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, every, after;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, after) WHERE state = 'idle'
-- isolation: read committed
UPDATE /* roundsq.Claim */ rounds
SET    state = 'busy'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   rounds
           WHERE  state = 'idle'
           AND    after <= now()
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, every, after;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* roundsq.Complete */ rounds
SET    state = 'idle',
       after = (after + interval '1 hour')
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* roundsq.Fail */ rounds
SET    state = 'idle',
       after = now() + make_interval(secs => $1)
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* roundsq.Requeue */ rounds
SET    state = 'idle',
       after = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE after END
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Every, 2: new After
INSERT /* roundsq.Enqueue */ INTO rounds
       (state, every, after)
VALUES ('idle', $1, coalesce($2::timestamptz, now()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Every, 2: new_batch After
INSERT /* roundsq.EnqueueMany */ INTO rounds
       (state, every, after)
SELECT 'idle', every_new, coalesce(after_new, now())
FROM   unnest($1::integer[], $2::timestamptz[]) WITH ORDINALITY AS job (every_new, after_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* roundsq.Stats */
       count(*) FILTER (WHERE state = 'idle' AND after <= now()) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'idle' AND after > now()) AS delayed,
       extract(epoch FROM now() - min(after) FILTER (WHERE state = 'idle' AND after <= now())) AS oldest_ready
FROM   rounds;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST, after) WHERE state = 'idle'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* roundsq.Peek */
       id, every, after
FROM   rounds
WHERE  state = 'idle'
AND    after <= now()
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* roundsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* roundsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('every', 'integer'),
               ('after', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('rounds')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* roundsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* roundsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('rounds_ready', 'id nulls first', 'id nulls first', 'state=''idle''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('rounds')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY rounds_ready ON rounds (id NULLS FIRST, after)
WHERE  state = 'idle';
