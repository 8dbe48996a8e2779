-- Package marksq uses the table marks as a queue of jobs on YugabyteDB 2024.2 and later.
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
-- Besides the queue's own rows it writes totals (Enqueue), each in the transaction of the operation.
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
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* marksq.Claim */ FROM marks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   marks
           ORDER  BY id
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED))
RETURNING id, address;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Address
INSERT /* marksq.Enqueue */ INTO marks
       (id, address)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Address
INSERT /* marksq.EnqueueMany */ INTO marks
       (id, address)
SELECT id_new, address_new
FROM   unnest($1::bytea[], $2::varchar[]) WITH ORDINALITY AS job (id_new, address_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_insert_totals.sql
-- enqueue: inserts rows into totals for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* marksq.Enqueue */ INTO totals
       (address)
SELECT held.address
FROM   marks AS held
WHERE  held.id = ANY ($1::bytea[]);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* marksq.Stats */
       count(*) AS ready
FROM   marks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* marksq.Peek */
       id, address
FROM   marks
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* marksq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* marksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bytea'),
               ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('marks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of totals
-- locks: none
SELECT /* marksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('totals')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* marksq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* marksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('marks_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('marks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: marks_pkey serves already
