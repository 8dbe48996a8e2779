-- Package dropsq uses the table drops as a queue of jobs on PostgreSQL 15 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates drops_ready and drops_like.
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
-- note: enqueue=absent leaves a job out where a row is like it in hash, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE locked_by IS NULL
-- isolation: read committed
-- arguments: 1: limit
DELETE /* dropsq.Claim */ FROM drops
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   drops
           WHERE  locked_by IS NULL
           ORDER  BY id NULLS FIRST
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED))
RETURNING id, hash;

-- sql/enqueue_gate.sql
-- enqueue: jobs that are alike in hash are added one after the other
-- locks: a number made of the table and these columns, and one of the table that producers share, until commit
-- index: none; it reads nothing
-- isolation: read committed
-- arguments: 1: new Hash
SELECT /* dropsq.Enqueue */
       1
FROM   pg_advisory_xact_lock('drops'::regclass::oid::int, hashtext('enqueue ' || concat_ws(' ', $1::varchar))),
       pg_advisory_xact_lock_shared('drops'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue_alone.sql
-- enqueue: a call with more than 100 jobs adds them while no other producer adds any
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
SELECT /* dropsq.EnqueueMany */
       1
FROM   pg_advisory_xact_lock('drops'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in hash, of those that are ready: then it adds none
-- locks: the new row, until commit
-- index: (hash) WHERE locked_by IS NULL
-- isolation: read committed
-- arguments: 1: new Hash
INSERT /* dropsq.Enqueue */ INTO drops
       (hash)
SELECT $1::varchar
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('rows that are alike are looked for in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END
AND    NOT EXISTS (
           SELECT 1
           FROM   drops
           WHERE  hash = $1::varchar
           AND    locked_by IS NULL)
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (id NULLS FIRST) WHERE locked_by IS NULL
SELECT /* dropsq.Stats */
       count(*) AS ready
FROM   drops
WHERE  locked_by IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE locked_by IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* dropsq.Peek */
       id, hash
FROM   drops
WHERE  locked_by IS NULL
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* dropsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('hash', 'varchar'),
               ('locked_by', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('drops')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* dropsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* dropsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('drops_ready', 'id nulls first', 'id nulls first', 'locked_byisnull'),
               ('drops_like', 'hash', 'hash', 'locked_byisnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('drops')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY drops_ready ON drops (id NULLS FIRST)
WHERE  locked_by IS NULL;

-- serves Enqueue: the rows that are like a new job
CREATE INDEX CONCURRENTLY drops_like ON drops (hash)
WHERE  locked_by IS NULL;
