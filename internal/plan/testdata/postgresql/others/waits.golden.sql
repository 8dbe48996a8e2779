-- Package waitsq uses the table waits as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates waits_ready and waits_others.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, site, no
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (site NULLS FIRST, no) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit, 2: token Token
WITH /* waitsq.Claim */ picked AS MATERIALIZED (
    SELECT site, no
    FROM   waits
    WHERE  state = 'new'
    ORDER  BY site NULLS FIRST, no
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE waits
SET    state = 'busy',
       token = $2
FROM   picked
WHERE  waits.site = picked.site
AND    waits.no = picked.no
RETURNING waits.site, waits.no, waits.after, waits.tries, waits.token;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (site NULLS FIRST, no) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Token
WITH /* waitsq.Claim */ picked AS MATERIALIZED (
    SELECT site, no
    FROM   waits
    WHERE  state = 'new'
    ORDER  BY site NULLS FIRST, no
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE waits
SET    state = 'busy',
       token = $1
FROM   picked
WHERE  waits.site = picked.site
AND    waits.no = picked.no
RETURNING waits.site, waits.no, waits.after, waits.tries, waits.token;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (site NULLS FIRST, no) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Token
WITH /* waitsq.Claim */ picked AS MATERIALIZED (
    SELECT site, no
    FROM   waits
    WHERE  state = 'new'
    ORDER  BY site NULLS FIRST, no
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE waits
SET    state = 'busy',
       token = $1
FROM   picked
WHERE  waits.site = picked.site
AND    waits.no = picked.no
RETURNING waits.site, waits.no, waits.after, waits.tries, waits.token;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
SELECT /* waitsq.Complete */
       site, no
FROM   waits,
       unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
FOR    UPDATE OF waits;

-- sql/complete_update_waits.sql
-- complete: updates rows of waits for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (site, after)
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
UPDATE /* waitsq.Complete */ waits
SET    state = 'new'
FROM   waits AS held,
       unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  held.site = site_held
AND    held.no = no_held
AND    CASE WHEN held.token = token_held THEN true END
AND    waits.site = held.site
AND    waits.after = held.no
AND    waits.state = 'waiting'
AND    NOT EXISTS (SELECT 1 FROM unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held) WHERE waits.site = site_held AND waits.no = no_held);

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
DELETE /* waitsq.Complete */ FROM waits
USING  unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
RETURNING site, no;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'new',
       tries = tries + 1,
       token = NULL
FROM   unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
RETURNING site, no;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
SELECT /* waitsq.Fail */
       site, no
FROM   waits,
       unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF waits;

-- sql/fail_update_waits.sql
-- fail: updates rows of waits for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (site, after)
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'failed'
FROM   waits AS held,
       unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  held.site = site_held
AND    held.no = no_held
AND    CASE WHEN held.token = token_held THEN true END
AND    waits.site = held.site
AND    waits.after = held.no
AND    waits.state IN ('waiting', 'new')
AND    NOT EXISTS (SELECT 1 FROM unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held) WHERE waits.site = site_held AND waits.no = no_held);

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'failed',
       tries = tries + 1
FROM   unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
RETURNING site, no;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
UPDATE /* waitsq.Requeue */ waits
SET    state = 'new',
       token = NULL
FROM   unnest($1::text[], $2::integer[], $3::uuid[]) AS job (site_held, no_held, token_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN token = token_held
            AND    state = 'busy' THEN true END
RETURNING site, no;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* waitsq.Redrive */ picked AS MATERIALIZED (
    SELECT site, no
    FROM   waits
    WHERE  state = 'failed'
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE waits
SET    state = 'new',
       tries = 0,
       token = NULL
FROM   picked
WHERE  waits.site = picked.site
AND    waits.no = picked.no;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (site, no) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* waitsq.Purge */ picked AS MATERIALIZED (
    SELECT site, no
    FROM   waits
    WHERE  state = 'failed'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM waits
USING  picked
WHERE  waits.site = picked.site
AND    waits.no = picked.no;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new No, 3: new After
INSERT /* waitsq.Enqueue */ INTO waits
       (site, no, after, state)
VALUES ($1, $2, $3, 'new')
RETURNING site, no;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Site, 2: new_batch No, 3: new_batch After
INSERT /* waitsq.EnqueueMany */ INTO waits
       (site, no, after, state)
SELECT site_new, no_new, after_new, 'new'
FROM   unnest($1::text[], $2::integer[], $3::integer[]) WITH ORDINALITY AS job (site_new, no_new, after_new, job_order)
ORDER  BY job_order
RETURNING site, no;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'failed') AS failed
FROM   waits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (site NULLS FIRST, no) WHERE state = 'new'
SELECT /* waitsq.Backlog */
       count(*) AS ready
FROM   waits
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (site NULLS FIRST, no) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       site, no, after, tries
FROM   waits
WHERE  state = 'new'
ORDER  BY site NULLS FIRST, no
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('site', 'text'),
               ('no', 'integer'),
               ('after', 'integer'),
               ('state', 'text'),
               ('tries', 'integer'),
               ('token', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('waits')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* waitsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('waits_ready', 'site nulls first, no', 'site nulls first, no', 'state=''new'''),
               ('waits_others', 'site, after', 'site, after', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('waits')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX CONCURRENTLY waits_ready ON waits (site NULLS FIRST, no)
WHERE  state = 'new';

-- finds the rows of other jobs that a step writes; waits_pkey leads to these rows among others: where those are few, decline this one (indexes: {others: false})
CREATE INDEX CONCURRENTLY waits_others ON waits (site, after);
