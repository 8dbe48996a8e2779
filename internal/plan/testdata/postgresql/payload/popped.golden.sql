-- Package poppedq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: a claim deletes the rows it takes (strategy=pop), since the status has no done=: done=… or done:=… there keeps them, done=delete on qgen:queue says that they go
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "id"

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE status = 'ready'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* poppedq.Claim */
       id, token, lease_till, body_id
FROM   jobs
WHERE  status = 'ready'
ORDER  BY id NULLS FIRST
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* poppedq.Claim */ FROM jobs
WHERE  id = ANY ($1::bigint[]);

-- sql/payload.sql
-- payload: what claimed jobs have in app.bodies, heads
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
SELECT /* poppedq.Payload */
       jobs.id, b.body, b.status, b.raw, b.made, heads.subject
FROM   jobs
       LEFT JOIN app.bodies b
       ON  (b.id = jobs.body_id)
       LEFT JOIN heads
       ON  (heads.body_id = jobs.body_id)
WHERE  jobs.id = ANY ($1::bigint[]);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Token, 2: new LeaseTill, 3: new BodyID
INSERT /* poppedq.Enqueue */ INTO jobs
       (token, lease_till, body_id)
VALUES ($1, $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Token, 2: new_batch LeaseTill, 3: new_batch BodyID
INSERT /* poppedq.EnqueueMany */ INTO jobs
       (token, lease_till, body_id)
SELECT token_new, lease_till_new, body_id_new
FROM   unnest($1::varchar[], $2::timestamptz[], $3::bigint[]) WITH ORDINALITY AS job (token_new, lease_till_new, body_id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (id NULLS FIRST) WHERE status = 'ready'
SELECT /* poppedq.Stats */
       count(*) AS ready
FROM   jobs
WHERE  status = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE status = 'ready'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* poppedq.Peek */
       id, token, lease_till, body_id
FROM   jobs
WHERE  status = 'ready'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* poppedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* poppedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('status', 'varchar'),
               ('token', 'varchar'),
               ('lease_till', 'timestamptz'),
               ('body_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload.sql
-- verify: columns of app.bodies
-- locks: none
SELECT /* poppedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('body', 'jsonb'),
               ('status', 'varchar'),
               ('raw', 'bytea'),
               ('made', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('app.bodies')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload2.sql
-- verify: columns of heads
-- locks: none
SELECT /* poppedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('subject', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('heads')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* poppedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* poppedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_ready', 'id nulls first', 'id nulls first', 'status=''ready''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
-- jobsq advises the same
CREATE INDEX CONCURRENTLY jobs_ready ON jobs (id NULLS FIRST)
WHERE  status = 'ready';
