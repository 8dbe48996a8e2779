-- Package pollsq uses the table polls as a queue of jobs on PostgreSQL 15 and later.
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
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates polls_ready.
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
-- note: rows are taken as they came, by column "id"; order 1 at column "asked_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* pollsq.Claim */ polls
SET    state = 'A',
       asked_at = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   polls
           WHERE  state = 'N'
           AND    (asked_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR asked_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, asked_at, wait_s;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* pollsq.Claim */ polls
SET    state = 'A',
       asked_at = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   polls
           WHERE  state = 'N'
           AND    (asked_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR asked_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, asked_at, wait_s;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* pollsq.Claim */ polls
SET    state = 'A',
       asked_at = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   polls
           WHERE  state = 'N'
           AND    (asked_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR asked_at IS NULL)
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, asked_at, wait_s;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* pollsq.Complete */ FROM polls
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* pollsq.Fail */ polls
SET    state = 'N',
       asked_at = floor(extract(epoch FROM now()))::bigint
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* pollsq.Requeue */ polls
SET    state = 'N',
       asked_at = floor(extract(epoch FROM now()) - wait_s)::bigint
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'A' THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new AskedAt, 2: new WaitS
INSERT /* pollsq.Enqueue */ INTO polls
       (asked_at, wait_s)
VALUES ($1, coalesce($2::integer, 60))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch AskedAt, 2: new_batch WaitS
INSERT /* pollsq.EnqueueMany */ INTO polls
       (asked_at, wait_s)
SELECT asked_at_new, coalesce(wait_s_new, 60)
FROM   unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS job (asked_at_new, wait_s_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pollsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (asked_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR asked_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'N' AND asked_at > floor(extract(epoch FROM now()) - wait_s)::bigint) AS delayed
FROM   polls;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pollsq.Peek */
       id, wait_s
FROM   polls
WHERE  state = 'N'
AND    (asked_at <= floor(extract(epoch FROM now()) - wait_s)::bigint OR asked_at IS NULL)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pollsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pollsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('asked_at', 'bigint'),
               ('wait_s', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('polls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* pollsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pollsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('polls_ready', 'id nulls first', 'id nulls first', 'state=''n''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('polls')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY polls_ready ON polls (id NULLS FIRST)
WHERE  state = 'N';
