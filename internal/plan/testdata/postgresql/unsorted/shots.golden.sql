-- Package shotsq uses the table shots as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates shots_ready.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "run_at"
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: ((coalesce(late, made)), id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* shotsq.Claim */ shots
SET    run_at = now() + interval '2 seconds'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   shots
           WHERE  run_at <= now()
           ORDER  BY (coalesce(late, made)), id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, late, run_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: ((coalesce(late, made)), id)
-- isolation: read committed
UPDATE /* shotsq.Claim */ shots
SET    run_at = now() + interval '2 seconds'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   shots
           WHERE  run_at <= now()
           ORDER  BY (coalesce(late, made)), id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, late, run_at;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: ((coalesce(late, made)), id)
-- isolation: read committed
UPDATE /* shotsq.Claim */ shots
SET    run_at = now() + interval '2 seconds'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   shots
           WHERE  run_at <= now()
           ORDER  BY (coalesce(late, made)), id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, late, run_at;

-- sql/complete.sql
-- complete: running to done
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch RunAt
DELETE /* shotsq.Complete */ FROM shots
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch RunAt
UPDATE /* shotsq.Fail */ shots
SET    run_at = now() + make_interval(secs => $1)
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch RunAt
UPDATE /* shotsq.Requeue */ shots
SET    run_at = now() + make_interval(secs => $1)
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: run_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch RunAt
UPDATE /* shotsq.Extend */ shots
SET    run_at = now() + interval '2 seconds'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, run_at_held)
WHERE  id = id_held
AND    CASE WHEN run_at = run_at_held THEN true END
RETURNING id, run_at;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Made, 2: new Late, 3: new RunAt
INSERT /* shotsq.Enqueue */ INTO shots
       (made, late, run_at)
VALUES ($1, $2, coalesce($3::timestamptz, now()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Made, 2: new_batch Late, 3: new_batch RunAt
INSERT /* shotsq.EnqueueMany */ INTO shots
       (made, late, run_at)
SELECT made_new, late_new, coalesce(run_at_new, now())
FROM   unnest($1::timestamptz[], $2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS job (made_new, late_new, run_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* shotsq.Stats */
       count(*) FILTER (WHERE run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS running,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE run_at <= now())) AS oldest_ready
FROM   shots;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: ((coalesce(late, made)), id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* shotsq.Peek */
       id, made, late, run_at
FROM   shots
WHERE  run_at <= now()
ORDER  BY (coalesce(late, made)), id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* shotsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* shotsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('made', 'timestamptz'),
               ('late', 'timestamptz'),
               ('run_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('shots')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* shotsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* shotsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('shots_ready', '', '', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('shots')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY shots_ready ON shots ((coalesce(late, made)), id);
