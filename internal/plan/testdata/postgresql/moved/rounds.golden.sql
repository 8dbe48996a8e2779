-- Package roundsq uses the table rounds as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
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
-- note: the fence is the count in column "tries" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (place, last_ms, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* roundsq.Claim */ rounds
SET    state = 'A',
       last_ms = floor(extract(epoch FROM now()) * 1000)::bigint,
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   rounds
           WHERE  state = 'N'
           ORDER  BY place, last_ms, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, place, last_ms, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (place, last_ms, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* roundsq.Claim */ rounds
SET    state = 'A',
       last_ms = floor(extract(epoch FROM now()) * 1000)::bigint,
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   rounds
           WHERE  state = 'N'
           ORDER  BY place, last_ms, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, place, last_ms, tries;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (place, last_ms, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* roundsq.Claim */ rounds
SET    state = 'A',
       last_ms = floor(extract(epoch FROM now()) * 1000)::bigint,
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   rounds
           WHERE  state = 'N'
           ORDER  BY place, last_ms, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, place, last_ms, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
DELETE /* roundsq.Complete */ FROM rounds
USING  unnest($1::varchar[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* roundsq.Fail */ rounds
SET    state = 'N'
FROM   unnest($1::varchar[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* roundsq.Requeue */ rounds
SET    state = 'N',
       tries = tries - 1
FROM   unnest($1::varchar[], $2::bigint[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Place, 3: new LastMs
INSERT /* roundsq.Enqueue */ INTO rounds
       (id, place, last_ms)
VALUES ($1, $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Place, 3: new_batch LastMs
INSERT /* roundsq.EnqueueMany */ INTO rounds
       (id, place, last_ms)
SELECT id_new, place_new, last_ms_new
FROM   unnest($1::varchar[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS job (id_new, place_new, last_ms_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* roundsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running
FROM   rounds;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (place, last_ms, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* roundsq.Peek */
       id, place, last_ms, tries
FROM   rounds
WHERE  state = 'N'
ORDER  BY place, last_ms, id
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
FROM   (VALUES ('id', 'varchar'),
               ('state', 'char'),
               ('place', 'bigint'),
               ('last_ms', 'bigint'),
               ('tries', 'bigint')) AS want (name, type)
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
FROM   (VALUES ('rounds_ready', 'place, last_ms, id', 'place, last_ms, id', 'state=''n''')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY rounds_ready ON rounds (place, last_ms, id)
WHERE  state = 'N';
