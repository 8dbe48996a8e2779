-- Package someq uses the table tasks as a queue of jobs on PostgreSQL 15 and later.
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

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: tasks_scheduled_at (scheduled_at)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* someq.Claim */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  (scheduled_at > now() and state <> 'busy')
           ORDER  BY scheduled_at, id
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED))
RETURNING id, state, scheduled_at;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new State, 2: new ScheduledAt
INSERT /* someq.Enqueue */ INTO tasks
       (state, scheduled_at)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch State, 2: new_batch ScheduledAt
INSERT /* someq.EnqueueMany */ INTO tasks
       (state, scheduled_at)
SELECT state_new, scheduled_at_new
FROM   unnest($1::text[], $2::timestamptz[]) WITH ORDINALITY AS job (state_new, scheduled_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* someq.Stats */
       count(*) AS ready
FROM   tasks
WHERE  (scheduled_at > now() and state <> 'busy');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: tasks_scheduled_at (scheduled_at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* someq.Peek */
       id, state, scheduled_at
FROM   tasks
WHERE  (scheduled_at > now() and state <> 'busy')
ORDER  BY scheduled_at, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* someq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* someq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('scheduled_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* someq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* someq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_scheduled_at', 'scheduled_at', 'scheduled_at', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('tasks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over; rows of one scheduled_at are sorted by the key: tasks_scheduled_at serves already
