-- Package datedq uses the table dated as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready or not as its caller says by shut
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates dated_ready.
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
-- claim: ready to gone
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE shut IS NOT NULL
-- isolation: read committed
-- arguments: 1: limit
DELETE /* datedq.Claim */ FROM dated
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   dated
           WHERE  shut IS NOT NULL
           ORDER  BY id NULLS FIRST
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED))
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready or not as its caller says by shut
-- locks: nothing that others wait for
-- arguments: 1: new Shut
INSERT /* datedq.Enqueue */ INTO dated
       (shut)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready or not as its caller says by shut, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Shut
INSERT /* datedq.EnqueueMany */ INTO dated
       (shut)
SELECT shut_new
FROM   unnest($1::date[]) WITH ORDINALITY AS job (shut_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (id NULLS FIRST) WHERE shut IS NOT NULL
SELECT /* datedq.Stats */
       count(*) AS ready
FROM   dated
WHERE  shut IS NOT NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE shut IS NOT NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* datedq.Peek */
       id
FROM   dated
WHERE  shut IS NOT NULL
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* datedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* datedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'integer'),
               ('shut', 'date')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('dated')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* datedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* datedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('dated_ready', 'id nulls first', 'id nulls first', 'shutisnotnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('dated')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY dated_ready ON dated (id NULLS FIRST)
WHERE  shut IS NOT NULL;
