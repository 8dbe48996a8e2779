-- Package failingq uses the table failing as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Bury------------> failed
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates failing_ready.
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
-- note: column "at" is due and lease, so a claim hides the row by moving its due time
-- note: a row that waits for its time looks like one that runs: both are hidden by column "at"
-- note: a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)
-- note: the fence compares column "at", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (at, id) WHERE at <> 2147483647 AND tries < 5
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* failingq.Claim */ failing
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   failing
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    at <> 2147483647
           AND    tries < 5
           ORDER  BY at, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (at, id) WHERE at <> 2147483647 AND tries < 5
-- isolation: read committed
UPDATE /* failingq.Claim */ failing
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   failing
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    at <> 2147483647
           AND    tries < 5
           ORDER  BY at, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, tries;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (at, id) WHERE at <> 2147483647 AND tries < 5
-- isolation: read committed
UPDATE /* failingq.Claim */ failing
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   failing
           WHERE  at <= floor(extract(epoch FROM now()))::bigint
           AND    at <> 2147483647
           AND    tries < 5
           ORDER  BY at, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, at, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch At
DELETE /* failingq.Complete */ FROM failing
USING  unnest($1::bigint[], $2::bigint[]) AS job (id_held, at_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch At
UPDATE /* failingq.Fail */ failing
SET    at = floor(extract(epoch FROM now()) + $1)::bigint,
       tries = tries + 1
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, at_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch At
UPDATE /* failingq.Fail */ failing
SET    at = 2147483647,
       tries = tries + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, at_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch At
UPDATE /* failingq.Requeue */ failing
SET    at = floor(extract(epoch FROM now()) + $1)::bigint
FROM   unnest($2::bigint[], $3::bigint[]) AS job (id_held, at_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch At
UPDATE /* failingq.Extend */ failing
SET    at = floor(extract(epoch FROM now()) + 1000)::bigint
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, at_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held THEN true END
RETURNING id, at;

-- sql/outcome_bury.sql
-- outcome_bury: running to failed
-- fence: at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch At
UPDATE /* failingq.Bury */ failing
SET    at = 2147483647,
       tries = tries + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, at_held)
WHERE  id = id_held
AND    CASE WHEN at = at_held THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* failingq.Redrive */ failing
SET    at = floor(extract(epoch FROM now()))::bigint,
       tries = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   failing
           WHERE  at = 2147483647
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At
INSERT /* failingq.Enqueue */ INTO failing
       (at)
VALUES (coalesce($1::bigint, floor(extract(epoch FROM now()))::bigint))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch At
INSERT /* failingq.EnqueueMany */ INTO failing
       (at)
SELECT coalesce(at_new, floor(extract(epoch FROM now()))::bigint)
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* failingq.Stats */
       count(*) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint AND at <> 2147483647 AND tries < 5) AS ready,
       count(*) FILTER (WHERE at > floor(extract(epoch FROM now()))::bigint AND at <> 2147483647) AS running,
       count(*) FILTER (WHERE at = 2147483647) AS failed,
       count(*) FILTER (WHERE at <> 2147483647 AND tries < 5 AND at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(at) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint AND at <> 2147483647 AND tries < 5)) AS oldest_ready
FROM   failing;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (at, id) WHERE at <> 2147483647 AND tries < 5
SELECT /* failingq.Backlog */
       count(*) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint) AS ready,
       count(*) FILTER (WHERE at > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(at) FILTER (WHERE at <= floor(extract(epoch FROM now()))::bigint)) AS oldest_ready
FROM   failing
WHERE  at <> 2147483647
AND    tries < 5;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at, id) WHERE at <> 2147483647 AND tries < 5
-- isolation: read committed
-- arguments: 1: limit
SELECT /* failingq.Peek */
       id, at, tries
FROM   failing
WHERE  at <= floor(extract(epoch FROM now()))::bigint
AND    at <> 2147483647
AND    tries < 5
ORDER  BY at, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* failingq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* failingq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('at', 'bigint'),
               ('tries', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('failing')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* failingq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* failingq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('failing_ready', '', '', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('failing')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX CONCURRENTLY failing_ready ON failing (at, id)
WHERE  at <> 2147483647
AND    tries < 5;
