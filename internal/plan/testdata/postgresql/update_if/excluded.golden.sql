-- Package excludedq uses the table excluded as a queue of jobs on PostgreSQL 15 and later.
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
-- note: no order is said: rows are taken in the order of the key, id
-- note: enqueue=update changes the row that is like a new job in id (primary key), where (exists (select 1 from files f where f.data_type = {new}.kind and f.file_id = {row}.id) or running), and leaves it alone where that does not hold: kind = {kind} unless nil, running = {running} unless nil

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* excludedq.Claim */ FROM excluded
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   excluded
           ORDER  BY id
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED))
RETURNING id, kind, running;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in id (primary key), where update_if holds for that; else it is left alone, and nothing comes back
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new ID, 2: new Kind, 3: new Running
INSERT /* excludedq.Enqueue */ INTO excluded AS queue_row
       (id, kind, running)
VALUES ($1, $2, coalesce($3::boolean, true))
ON     CONFLICT (id) DO UPDATE
SET    kind = coalesce(excluded.kind, queue_row.kind),
       running = coalesce($3::boolean, queue_row.running)
WHERE  (exists (select 1 from files f where f.data_type = excluded.kind and f.file_id = queue_row.id) or queue_row.running)
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* excludedq.Stats */
       count(*) AS ready
FROM   excluded;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* excludedq.Peek */
       id, kind, running
FROM   excluded
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* excludedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* excludedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'integer'),
               ('kind', 'text'),
               ('running', 'boolean')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('excluded')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* excludedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* excludedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('excluded_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('excluded')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: excluded_pkey serves already
