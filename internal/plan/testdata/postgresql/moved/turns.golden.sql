-- Package turnsq uses the table turns as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates turns_ready and turns_expired.
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
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (queued, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* turnsq.Claim */ turns
SET    state = 'A',
       held_ms = floor((extract(epoch FROM now()) + 300) * 1000)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   turns
           WHERE  state = 'N'
           ORDER  BY queued, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queued, held_ms;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (queued, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* turnsq.Claim */ turns
SET    state = 'A',
       held_ms = floor((extract(epoch FROM now()) + 300) * 1000)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   turns
           WHERE  state = 'N'
           ORDER  BY queued, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queued, held_ms;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (queued, id) WHERE state = 'N'
-- isolation: read committed
UPDATE /* turnsq.Claim */ turns
SET    state = 'A',
       held_ms = floor((extract(epoch FROM now()) + 300) * 1000)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   turns
           WHERE  state = 'N'
           ORDER  BY queued, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, queued, held_ms;

-- sql/complete.sql
-- complete: running to done
-- fence: held_ms as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldMs
UPDATE /* turnsq.Complete */ turns
SET    state = 'D',
       held_ms = NULL
FROM   unnest($1::varchar[], $2::bigint[]) AS job (id_held, held_ms_held)
WHERE  id = id_held
AND    CASE WHEN held_ms = held_ms_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: held_ms as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldMs
UPDATE /* turnsq.Fail */ turns
SET    state = 'N',
       queued = floor(extract(epoch FROM now()) * 1000)::bigint,
       held_ms = NULL
FROM   unnest($1::varchar[], $2::bigint[]) AS job (id_held, held_ms_held)
WHERE  id = id_held
AND    CASE WHEN held_ms = held_ms_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_ms as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldMs
UPDATE /* turnsq.Requeue */ turns
SET    state = 'N',
       queued = floor(extract(epoch FROM now()) * 1000)::bigint,
       held_ms = NULL
FROM   unnest($1::varchar[], $2::bigint[]) AS job (id_held, held_ms_held)
WHERE  id = id_held
AND    CASE WHEN held_ms = held_ms_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_ms as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldMs
UPDATE /* turnsq.Extend */ turns
SET    held_ms = floor((extract(epoch FROM now()) + 300) * 1000)::bigint
FROM   unnest($1::varchar[], $2::bigint[]) AS job (id_held, held_ms_held)
WHERE  id = id_held
AND    CASE WHEN held_ms = held_ms_held
            AND    state = 'A' THEN true END
RETURNING id, held_ms;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (held_ms) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* turnsq.Recover */ turns
SET    state = 'N',
       held_ms = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   turns
           WHERE  state = 'A'
           AND    held_ms <= floor(extract(epoch FROM now()) * 1000)::bigint
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* turnsq.Purge */ FROM turns
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   turns
           WHERE  state = 'D'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* turnsq.Enqueue */ INTO turns
       (id, queued)
VALUES ($1, floor(extract(epoch FROM now()) * 1000)::bigint)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID
INSERT /* turnsq.EnqueueMany */ INTO turns
       (id, queued)
SELECT id_new, floor(extract(epoch FROM now()) * 1000)::bigint
FROM   unnest($1::varchar[]) WITH ORDINALITY AS job (id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* turnsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'A' AND held_ms <= floor(extract(epoch FROM now()) * 1000)::bigint) AS expired
FROM   turns;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (queued, id) WHERE state = 'N'
SELECT /* turnsq.Backlog */
       count(*) AS ready
FROM   turns
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (queued, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* turnsq.Peek */
       id, queued
FROM   turns
WHERE  state = 'N'
ORDER  BY queued, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* turnsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* turnsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'varchar'),
               ('state', 'char'),
               ('queued', 'bigint'),
               ('held_ms', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('turns')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* turnsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* turnsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('turns_ready', 'queued, id', 'queued, id', 'state=''n'''),
               ('turns_expired', 'held_ms', 'held_ms', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('turns')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY turns_ready ON turns (queued, id)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY turns_expired ON turns (held_ms)
WHERE  state = 'A';
