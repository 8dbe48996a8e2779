-- Package aggregationsq uses the table aggregations as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "expiry"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows that are alike in column "expiry" are taken as the index aggregations_open has them: in the order of the key as well, PostgreSQL would sort all ready rows for each claim

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: aggregations_open (expiry) WHERE state = 'open'
-- isolation: read committed
-- arguments: 1: token Token, 2: limit
UPDATE /* aggregationsq.Claim */ aggregations
SET    expiry = now() + interval '10 minutes',
       token = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   aggregations
           WHERE  state = 'open'
           AND    expiry <= now()
           ORDER  BY expiry
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, expiry, token;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: aggregations_open (expiry) WHERE state = 'open'
-- isolation: read committed
-- arguments: 1: token Token
UPDATE /* aggregationsq.Claim */ aggregations
SET    expiry = now() + interval '10 minutes',
       token = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   aggregations
           WHERE  state = 'open'
           AND    expiry <= now()
           ORDER  BY expiry
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, expiry, token;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: aggregations_open (expiry) WHERE state = 'open'
-- isolation: read committed
-- arguments: 1: token Token
UPDATE /* aggregationsq.Claim */ aggregations
SET    expiry = now() + interval '10 minutes',
       token = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   aggregations
           WHERE  state = 'open'
           AND    expiry <= now()
           ORDER  BY expiry
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, expiry, token;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* aggregationsq.Complete */ aggregations
SET    state = 'done'
FROM   unnest($1::bigint[], $2::bytea[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'open' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Token
UPDATE /* aggregationsq.Fail */ aggregations
SET    expiry = now() + make_interval(secs => $1),
       token = NULL
FROM   unnest($2::bigint[], $3::bytea[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'open' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Token
UPDATE /* aggregationsq.Requeue */ aggregations
SET    expiry = now() + make_interval(secs => $1),
       token = NULL
FROM   unnest($2::bigint[], $3::bytea[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'open' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* aggregationsq.Extend */ aggregations
SET    expiry = now() + interval '10 minutes'
FROM   unnest($1::bigint[], $2::bytea[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'open' THEN true END
RETURNING id, expiry;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* aggregationsq.Purge */ FROM aggregations
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   aggregations
           WHERE  state = 'done'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* aggregationsq.Enqueue */ INTO aggregations
       (expiry)
VALUES ('2000-01-01 00:00:00+00')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* aggregationsq.Stats */
       count(*) FILTER (WHERE state = 'open' AND expiry <= now()) AS ready,
       count(*) FILTER (WHERE state = 'open' AND expiry > now()) AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'open' AND expiry > now()) AS delayed,
       extract(epoch FROM now() - min(expiry) FILTER (WHERE state = 'open' AND expiry <= now())) AS oldest_ready
FROM   aggregations;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: aggregations_open (expiry) WHERE state = 'open'
SELECT /* aggregationsq.Backlog */
       count(*) FILTER (WHERE expiry <= now()) AS ready,
       count(*) FILTER (WHERE expiry > now()) AS delayed,
       extract(epoch FROM now() - min(expiry) FILTER (WHERE expiry <= now())) AS oldest_ready
FROM   aggregations
WHERE  state = 'open';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: aggregations_open (expiry) WHERE state = 'open'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* aggregationsq.Peek */
       id, expiry
FROM   aggregations
WHERE  state = 'open'
AND    expiry <= now()
ORDER  BY expiry
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* aggregationsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* aggregationsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('expiry', 'timestamptz'),
               ('token', 'bytea')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('aggregations')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* aggregationsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* aggregationsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('aggregations_open', 'expiry', 'expiry', 'state=''open''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('aggregations')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: aggregations_open serves already
