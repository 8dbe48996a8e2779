-- Package holdq uses the table inbox as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates inbox_hold_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  rows have no key by which a side table could name them
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: rows that are equal in at are taken in any order: the table has no key

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (at)
-- isolation: read committed
-- arguments: 1: held RowID, 2: limit
SELECT /* holdq.Claim */
       ctid, at, line
FROM   inbox
WHERE  ctid <> ALL ($1::tid[])
ORDER  BY at
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch RowID
DELETE /* holdq.Complete */ FROM inbox
WHERE  ctid = ANY ($1::tid[])
RETURNING ctid;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new At, 2: new Line
INSERT /* holdq.Enqueue */ INTO inbox
       (at, line)
VALUES ($1, $2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch At, 2: new_batch Line
INSERT /* holdq.EnqueueMany */ INTO inbox
       (at, line)
SELECT at_new, line_new
FROM   unnest($1::timestamptz[], $2::text[]) WITH ORDINALITY AS job (at_new, line_new, job_order)
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* holdq.Stats */
       count(*) AS ready
FROM   inbox;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* holdq.Peek */
       ctid, at, line
FROM   inbox
ORDER  BY at
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* holdq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* holdq.Verify */
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
SELECT /* holdq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* holdq.Verify */
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
CREATE INDEX CONCURRENTLY inbox_hold_ready ON inbox (at);
