-- Package deliveriesq uses the table deliveries as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: held ID, 2: limit
SELECT /* deliveriesq.Claim */
       id, message
FROM   deliveries
WHERE  (exists (select 1 from messages m where m.id = deliveries.message and m.ready))
AND    id <> ALL ($1::bigint[])
ORDER  BY id
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* deliveriesq.Complete */ FROM deliveries
WHERE  id = ANY ($1::bigint[])
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Message
INSERT /* deliveriesq.Enqueue */ INTO deliveries
       (message)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Message
INSERT /* deliveriesq.EnqueueMany */ INTO deliveries
       (message)
SELECT message_new
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (message_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* deliveriesq.Stats */
       count(*) AS ready
FROM   deliveries
WHERE  (exists (select 1 from messages m where m.id = deliveries.message and m.ready));

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* deliveriesq.Peek */
       id, message
FROM   deliveries
WHERE  (exists (select 1 from messages m where m.id = deliveries.message and m.ready))
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* deliveriesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* deliveriesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('message', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('deliveries')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* deliveriesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* deliveriesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('deliveries_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('deliveries')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: deliveries_pkey serves already
