-- Package runsq uses the table runs as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes starts (Start), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates runs_ready and runs_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     YugabyteDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"
-- note: warning: a running row whose beat is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Token, 2: low, 3: limit
UPDATE /* runsq.Claim */ runs
SET    state = 'assigned',
       token = $1,
       beat = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, token;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Token, 2: low
UPDATE /* runsq.Claim */ runs
SET    state = 'assigned',
       token = $1,
       beat = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, token;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Token, 2: low
UPDATE /* runsq.Claim */ runs
SET    state = 'assigned',
       token = $1,
       beat = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, token;

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
SELECT /* runsq.Start */
       id
FROM   runs,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'assigned' THEN true END
FOR    NO KEY UPDATE OF runs;

-- sql/start_insert_starts.sql
-- start: inserts rows into starts for the rows that start_lock.sql locked, before start.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
INSERT /* runsq.Start */ INTO starts
       (run_id, at)
SELECT held.id, now()
FROM   runs AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  held.id = id_held
AND    CASE WHEN held.token = token_held THEN true END;

-- sql/start.sql
-- start: claimed to running
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* runsq.Start */ runs
SET    state = 'running',
       beat = now()
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state = 'assigned' THEN true END
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* runsq.Complete */ runs
SET    state = 'over'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state IN ('assigned', 'running', 'aborting') THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* runsq.Fail */ runs
SET    state = 'failed'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state IN ('assigned', 'running', 'aborting') THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* runsq.Requeue */ runs
SET    state = 'new',
       token = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state IN ('assigned', 'running', 'aborting') THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* runsq.Extend */ runs
SET    beat = now()
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, token_held)
WHERE  id = id_held
AND    CASE WHEN token = token_held
            AND    state IN ('assigned', 'running', 'aborting') THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (beat) WHERE state IN ('assigned', 'running', 'aborting')
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Recover */ runs
SET    state = 'new',
       token = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state IN ('assigned', 'running', 'aborting')
           AND    beat <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ runs
SET    state = 'new',
       token = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'over'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* runsq.Purge */ FROM runs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   runs
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* runsq.Enqueue */ INTO runs
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* runsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'assigned') AS claimed,
       count(*) FILTER (WHERE state IN ('running', 'aborting')) AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('assigned', 'running', 'aborting') AND beat <= now() - interval '5 minutes') AS expired
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* runsq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* runsq.Peek */
       id
FROM   runs
WHERE  state = 'new'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'varchar'),
               ('token', 'uuid'),
               ('beat', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of starts
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('run_id', 'bigint'),
               ('at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('starts')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* runsq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('runs_ready', 'id', 'id', 'state=''new'''),
               ('runs_expired', 'beat', 'beat', 'statein''assigned'',''running'',''aborting''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('runs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX runs_ready ON runs (id ASC)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX runs_expired ON runs (beat ASC)
WHERE  state IN ('assigned', 'running', 'aborting');
