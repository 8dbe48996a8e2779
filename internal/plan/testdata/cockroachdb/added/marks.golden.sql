-- Package marksq uses the table marks as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
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
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; of two that meet one is undone and made again
-- index: the primary key (id)
-- arguments: 1: limit
DELETE /* marksq.Claim */ FROM marks
ORDER  BY id
LIMIT  $1
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
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* marksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('marks_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('marks')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: marks_pkey serves already
