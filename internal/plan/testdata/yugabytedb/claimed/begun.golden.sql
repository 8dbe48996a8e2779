-- Package begunq uses the table begun as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates begun_ready and begun_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     YugabyteDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 0 AND start IS NULL
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low, 3: limit
UPDATE /* begunq.Claim */ begun
SET    state = 1,
       start = NULL,
       since = now(),
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   begun
           WHERE  state = 0
           AND    start IS NULL
           AND    id > $2
           ORDER  BY id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, since, holder;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 0 AND start IS NULL
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* begunq.Claim */ begun
SET    state = 1,
       start = NULL,
       since = now(),
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   begun
           WHERE  state = 0
           AND    start IS NULL
           AND    id > $2
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, since, holder;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 0 AND start IS NULL
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* begunq.Claim */ begun
SET    state = 1,
       start = NULL,
       since = now(),
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   begun
           WHERE  state = 0
           AND    start IS NULL
           AND    id > $2
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, since, holder;

-- sql/start.sql
-- start: claimed to running
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder
UPDATE /* begunq.Start */ begun
SET    start = now()
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, since_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    holder = holder_held
            AND    start IS NULL
            AND    state = 1 THEN true END
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder
UPDATE /* begunq.Complete */ begun
SET    state = 2
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, since_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    holder = holder_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder
UPDATE /* begunq.Fail */ begun
SET    state = 0,
       start = NULL,
       since = NULL,
       holder = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, since_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    holder = holder_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder
UPDATE /* begunq.Requeue */ begun
SET    state = 0,
       start = NULL,
       since = NULL,
       holder = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, since_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    holder = holder_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder
UPDATE /* begunq.Extend */ begun
SET    since = now()
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, since_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    holder = holder_held
            AND    state = 1 THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (since) WHERE state = 1
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* begunq.Recover */ begun
SET    state = 0,
       start = NULL,
       since = NULL,
       holder = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   begun
           WHERE  state = 1
           AND    since <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE state = 2 would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* begunq.Purge */ FROM begun
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   begun
           WHERE  state = 2
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* begunq.Enqueue */ INTO begun
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* begunq.Stats */
       count(*) FILTER (WHERE state = 0 AND start IS NULL) AS ready,
       count(*) FILTER (WHERE start IS NULL AND state = 1) AS claimed,
       count(*) FILTER (WHERE start IS NOT NULL AND state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state = 1 AND since <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(since) FILTER (WHERE state = 1)) AS oldest_running
FROM   begun;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 0 AND start IS NULL
SELECT /* begunq.Backlog */
       count(*) AS ready
FROM   begun
WHERE  state = 0
AND    start IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 0 AND start IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* begunq.Peek */
       id
FROM   begun
WHERE  state = 0
AND    start IS NULL
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* begunq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* begunq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'integer'),
               ('start', 'timestamptz'),
               ('since', 'timestamptz'),
               ('holder', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('begun')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* begunq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* begunq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('begun_ready', 'id', 'id', 'state=0andstartisnull'),
               ('begun_expired', 'since', 'since', 'state=1')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('begun')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX begun_ready ON begun (id ASC)
WHERE  state = 0
AND    start IS NULL;

-- serves Recover: claims that ran out
CREATE INDEX begun_expired ON begun (since ASC)
WHERE  state = 1;
