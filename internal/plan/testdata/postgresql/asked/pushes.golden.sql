-- Package pushesq uses the table pushes as a queue of jobs on PostgreSQL 18 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates pushes_ready.
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
-- note: no order is said: rows are taken in the order of the key, name; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=update changes the row that is like a new job in name (primary key): run_at = ({new}.run_at), pause = ({new}.pause), last = ({new}.last)
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (name NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* pushesq.Claim */ pushes
SET    state = 1
WHERE  name = ANY (ARRAY(
           SELECT name
           FROM   pushes
           WHERE  state = 0
           AND    (run_at <= now() OR run_at IS NULL)
           ORDER  BY name NULLS FIRST
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING name, run_at, pause;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (name NULLS FIRST) WHERE state = 0
-- isolation: read committed
UPDATE /* pushesq.Claim */ pushes
SET    state = 1
WHERE  name = ANY (ARRAY(
           SELECT name
           FROM   pushes
           WHERE  state = 0
           AND    (run_at <= now() OR run_at IS NULL)
           ORDER  BY name NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING name, run_at, pause;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (name NULLS FIRST) WHERE state = 0
-- isolation: read committed
UPDATE /* pushesq.Claim */ pushes
SET    state = 1
WHERE  name = ANY (ARRAY(
           SELECT name
           FROM   pushes
           WHERE  state = 0
           AND    (run_at <= now() OR run_at IS NULL)
           ORDER  BY name NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING name, run_at, pause;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Name
DELETE /* pushesq.Complete */ FROM pushes
WHERE  name = ANY ($1::text[])
AND    CASE WHEN state = 1 THEN true END
RETURNING name;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Name
UPDATE /* pushesq.Fail */ pushes
SET    state = 0,
       run_at = now() + make_interval(secs => $1)
WHERE  name = ANY ($2::text[])
AND    CASE WHEN state = 1 THEN true END
RETURNING name;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Name
UPDATE /* pushesq.Requeue */ pushes
SET    state = 0,
       run_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE run_at END
WHERE  name = ANY ($2::text[])
AND    CASE WHEN state = 1 THEN true END
RETURNING name;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in name (primary key)
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new Name, 2: new Pause, 3: new Delay
INSERT /* pushesq.Enqueue */ INTO pushes
       (name, run_at, pause, last)
VALUES ($1, (now() + make_interval(secs => $2::integer)), $2,
        now() + make_interval(secs => $3::double precision))
ON     CONFLICT (name) DO UPDATE
SET    run_at = (excluded.run_at),
       pause = (excluded.pause),
       last = (excluded.last)
RETURNING name;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pushesq.Stats */
       count(*) FILTER (WHERE state = 0 AND (run_at <= now() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 0 AND run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE state = 0 AND (run_at <= now() OR run_at IS NULL))) AS oldest_ready
FROM   pushes;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (name NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pushesq.Peek */
       name, run_at, pause
FROM   pushes
WHERE  state = 0
AND    (run_at <= now() OR run_at IS NULL)
ORDER  BY name NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pushesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 18'
WHERE  current_setting('server_version_num')::int < 180000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pushesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('name', 'text'),
               ('state', 'integer'),
               ('run_at', 'timestamptz'),
               ('pause', 'integer'),
               ('last', 'timestamptz')) AS want (name, type)
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
FROM   (VALUES ('pushes_ready', 'name nulls first', 'name nulls first', 'state=0')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY pushes_ready ON pushes (name NULLS FIRST)
WHERE  state = 0;
