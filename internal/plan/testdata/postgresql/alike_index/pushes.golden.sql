-- Package pushesq uses the table pushes as a queue of jobs on PostgreSQL 14 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "created"

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: pushes_idx3 (target, state, created, tries)
-- isolation: read committed
-- arguments: 1: param target int32, 2: held Pk, 3: limit
SELECT /* pushesq.Claim */
       pk, created, target, tries
FROM   pushes
WHERE  state = 20
AND    target = $1
AND    pk <> ALL ($2::text[])
ORDER  BY created, pk
LIMIT  $3
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Pk
UPDATE /* pushesq.Complete */ pushes
SET    state = 40
WHERE  pk = ANY ($1::text[])
AND    CASE WHEN state = 20 THEN true END
RETURNING pk;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Pk
UPDATE /* pushesq.Fail */ pushes
SET    tries = tries + 1
WHERE  pk = ANY ($1::text[])
AND    CASE WHEN state = 20 THEN true END
RETURNING pk;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (created) WHERE state = 40 would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* pushesq.Purge */ FROM pushes
WHERE  pk = ANY (ARRAY(
           SELECT pk
           FROM   pushes
           WHERE  state = 40
           AND    created <= floor((extract(epoch FROM now()) - $1) * 1000)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Pk, 2: new Target
INSERT /* pushesq.Enqueue */ INTO pushes
       (pk, created, state, target, tries)
VALUES ($1, floor(extract(epoch FROM now()) * 1000)::bigint, 20, $2, 0)
RETURNING pk;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Pk, 2: new_batch Target
INSERT /* pushesq.EnqueueMany */ INTO pushes
       (pk, created, state, target, tries)
SELECT pk_new, floor(extract(epoch FROM now()) * 1000)::bigint, 20, target_new, 0
FROM   unnest($1::text[], $2::integer[]) WITH ORDINALITY AS job (pk_new, target_new, job_order)
ORDER  BY job_order
RETURNING pk;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pushesq.Stats */
       count(*) FILTER (WHERE state = 20) AS ready,
       count(*) FILTER (WHERE state = 40) AS done,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(created) FILTER (WHERE state = 20)) / 1000.0) AS oldest_ready
FROM   pushes;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same target is for
-- locks: none
-- index: pushes_idx3 (target, state, created, tries)
-- arguments: 1: param target int32
SELECT /* pushesq.StatsOf */
       count(*) FILTER (WHERE state = 20) AS ready,
       count(*) FILTER (WHERE state = 40) AS done,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(created) FILTER (WHERE state = 20)) / 1000.0) AS oldest_ready
FROM   pushes
WHERE  target = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by target
-- locks: none
-- index: pushes_idx3 (target, state, created, tries); it looks through all of that index
SELECT /* pushesq.Backlog */
       target,
       count(*) AS ready,
       ((floor(extract(epoch FROM now()) * 1000)::bigint - min(created)) / 1000.0) AS oldest_ready
FROM   pushes
WHERE  state = 20
GROUP  BY target
ORDER  BY target;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: pushes_idx3 (target, state, created, tries)
-- isolation: read committed
-- arguments: 1: param target int32, 2: limit
SELECT /* pushesq.Peek */
       pk, created, target, tries
FROM   pushes
WHERE  state = 20
AND    target = $1
ORDER  BY created, pk
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pushesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pushesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('pk', 'text'),
               ('created', 'bigint'),
               ('state', 'integer'),
               ('target', 'integer'),
               ('tries', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('pushes')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* pushesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pushesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('pushes_idx3', 'target, state, created', 'target, state, created', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('pushes')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows of one created are sorted by the key: pushes_idx3 serves already
