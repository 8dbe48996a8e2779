-- Package flipsq uses the table flips as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates flips_ready.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE processed IS NULL
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* flipsq.Claim */ flips
SET    processed = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   flips
           WHERE  processed IS NULL
           AND    (until_at > now() OR until_at IS NULL)
           ORDER  BY id NULLS FIRST
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, status, until_at;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (processed) WHERE processed IS NOT NULL would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   flips
           WHERE  processed IS NOT NULL
           AND    processed <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_overdue.sql
-- purge_overdue: ready and past its time to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE processed IS NULL; it reads those that are not old enough as well, which one on (until_at) WHERE processed IS NULL would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   flips
           WHERE  processed IS NULL
           AND    until_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Status, 2: new UntilAt
INSERT /* flipsq.Enqueue */ INTO flips
       (status, until_at)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Status, 2: new_batch UntilAt
INSERT /* flipsq.EnqueueMany */ INTO flips
       (status, until_at)
SELECT status_new, until_at_new
FROM   unnest($1::text[], $2::timestamptz[]) WITH ORDINALITY AS job (status_new, until_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* flipsq.Stats */
       count(*) FILTER (WHERE processed IS NULL AND (until_at > now() OR until_at IS NULL)) AS ready,
       count(*) FILTER (WHERE processed IS NOT NULL) AS done
FROM   flips;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE processed IS NULL; it reads others as well
SELECT /* flipsq.Backlog */
       count(*) AS ready
FROM   flips
WHERE  processed IS NULL
AND    (until_at > now() OR until_at IS NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE processed IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* flipsq.Peek */
       id, status, until_at
FROM   flips
WHERE  processed IS NULL
AND    (until_at > now() OR until_at IS NULL)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* flipsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* flipsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('status', 'text'),
               ('until_at', 'timestamptz'),
               ('processed', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('flips')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* flipsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* flipsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('flips_ready', 'id nulls first', 'id nulls first', 'processedisnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('flips')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY flips_ready ON flips (id NULLS FIRST)
WHERE  processed IS NULL;
