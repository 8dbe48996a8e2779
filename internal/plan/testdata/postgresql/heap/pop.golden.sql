-- Package popq uses the table inbox as a queue of jobs on PostgreSQL 15 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates inbox_hold_ready.
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
-- note: rows that are equal in at are taken in any order: the table has no key

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: (at)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* popq.Claim */ FROM inbox
WHERE  ctid = ANY (ARRAY(
           SELECT ctid
           FROM   inbox
           ORDER  BY at
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED))
RETURNING ctid, at, line;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new At, 2: new Line
INSERT /* popq.Enqueue */ INTO inbox
       (at, line)
VALUES ($1, $2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch At, 2: new_batch Line
INSERT /* popq.EnqueueMany */ INTO inbox
       (at, line)
SELECT at_new, line_new
FROM   unnest($1::timestamptz[], $2::text[]) WITH ORDINALITY AS job (at_new, line_new, job_order)
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* popq.Stats */
       count(*) AS ready
FROM   inbox;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* popq.Peek */
       ctid, at, line
FROM   inbox
ORDER  BY at
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* popq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* popq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('at', 'timestamptz'),
               ('line', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('inbox')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* popq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* popq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('inbox_hold_ready', 'at', 'at', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('inbox')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
-- holdq advises the same
CREATE INDEX CONCURRENTLY inbox_hold_ready ON inbox (at);
