-- Package buildsq uses the table builds as a queue of jobs on PostgreSQL 15 and later.
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
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates builds_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the unique index builds_holder lets no two rows have one token, so that it cannot be the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index builds_active lets one row run of those that are alike in site, branch, and a claim of two such rows fails as a whole: qgen:group limit=1 there takes one of them
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in site (unique index builds_waiting, of rows where state = 'waiting'): Fail or Requeue fails then, for all rows of the call, until one of the two is gone; a predicate that holds of running rows as well keeps such a row from being added
-- note: the unique index builds_holder lets no two rows have one token: every claim leaves a fresh value in each row

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'waiting'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* buildsq.Claim */ builds
SET    state = 'active',
       holder = gen_random_uuid()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   builds
           WHERE  state = 'waiting'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, site, branch, holder;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'waiting'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* buildsq.Claim */ builds
SET    state = 'active',
       holder = gen_random_uuid()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   builds
           WHERE  state = 'waiting'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, site, branch, holder;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'waiting'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* buildsq.Claim */ builds
SET    state = 'active',
       holder = gen_random_uuid()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   builds
           WHERE  state = 'waiting'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, site, branch, holder;

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
UPDATE /* buildsq.Complete */ builds
SET    state = 'done'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    state = 'active' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
UPDATE /* buildsq.Fail */ builds
SET    state = 'waiting',
       holder = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    state = 'active' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
UPDATE /* buildsq.Requeue */ builds
SET    state = 'waiting',
       holder = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    state = 'active' THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* buildsq.Purge */ FROM builds
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   builds
           WHERE  state = 'done'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new Branch
INSERT /* buildsq.Enqueue */ INTO builds
       (site, branch)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Site, 2: new_batch Branch
INSERT /* buildsq.EnqueueMany */ INTO builds
       (site, branch)
SELECT site_new, branch_new
FROM   unnest($1::text[], $2::text[]) WITH ORDINALITY AS job (site_new, branch_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(*) FILTER (WHERE state = 'waiting') AS ready,
       count(*) FILTER (WHERE state = 'active') AS running,
       count(*) FILTER (WHERE state = 'done') AS done
FROM   builds;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: builds_waiting (site) WHERE state = 'waiting'
SELECT /* buildsq.Backlog */
       count(*) AS ready
FROM   builds
WHERE  state = 'waiting';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'waiting'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* buildsq.Peek */
       id, site, branch
FROM   builds
WHERE  state = 'waiting'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buildsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('site', 'text'),
               ('branch', 'text'),
               ('state', 'text'),
               ('holder', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('builds')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* buildsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buildsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('builds_ready', 'id nulls first', 'id nulls first', 'state=''waiting''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('builds')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY builds_ready ON builds (id NULLS FIRST)
WHERE  state = 'waiting';
