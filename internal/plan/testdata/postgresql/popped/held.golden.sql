-- Package heldq uses the table held as a queue of jobs on PostgreSQL 15 and later.
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
-- note: no order is said: rows are taken in the order of the key, name

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: held_worker (worker); the ready rows are then sorted; where these are many the server may go along held_pkey and pass over the others
-- isolation: read committed
-- arguments: 1: param worker []string, 2: limit
DELETE /* heldq.Claim */ FROM held
WHERE  name = ANY (ARRAY(
           SELECT name
           FROM   held
           WHERE  worker = ANY ($1::varchar[])
           ORDER  BY name
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED))
RETURNING name, worker, body;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Name, 2: new Worker, 3: new Body
INSERT /* heldq.Enqueue */ INTO held
       (name, worker, body)
VALUES ($1, $2, $3)
RETURNING name;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Name, 2: new_batch Worker, 3: new_batch Body
INSERT /* heldq.EnqueueMany */ INTO held
       (name, worker, body)
SELECT name_new, worker_new, body_new
FROM   unnest($1::varchar[], $2::varchar[], $3::varchar[]) WITH ORDINALITY AS job (name_new, worker_new, body_new, job_order)
ORDER  BY job_order
RETURNING name;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* heldq.Stats */
       count(*) AS ready
FROM   held;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same worker is for
-- locks: none
-- index: held_worker (worker)
-- arguments: 1: param worker []string
SELECT /* heldq.StatsOf */
       count(*) AS ready
FROM   held
WHERE  worker = ANY ($1::varchar[]);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by worker
-- locks: none
-- index: none; it reads the whole table
SELECT /* heldq.Backlog */
       worker,
       count(*) AS ready
FROM   held
GROUP  BY worker
ORDER  BY worker;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: held_worker (worker); the ready rows are then sorted; where these are many the server may go along held_pkey and pass over the others
-- isolation: read committed
-- arguments: 1: param worker []string, 2: limit
SELECT /* heldq.Peek */
       name, worker, body
FROM   held
WHERE  worker = ANY ($1::varchar[])
ORDER  BY name
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* heldq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* heldq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('name', 'varchar'),
               ('worker', 'varchar'),
               ('body', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('held')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* heldq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* heldq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('held_worker', 'worker', 'worker', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('held')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows, which are then sorted; where these are many the server may go along held_pkey and pass over the others: held_worker serves already
