-- Package heldq uses the table held as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It waits for a row that others hold, looks again whether it is ready, and locks it until the transaction ends. A row that another transaction is about to add or to make ready is not waited for: it is found once that has committed. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  no side table is asked for
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, id

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: param id int64, 2: held ID, 3: limit
SELECT /* heldq.Claim */
       id
FROM   held
WHERE  state = 0
AND    id = $1
AND    id <> ALL ($2::bigint[])
ORDER  BY id
LIMIT  $3
FOR    NO KEY UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* heldq.Complete */ held
SET    state = 1
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 0 THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 1 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* heldq.Purge */ FROM held
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   held
           WHERE  state = 1
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* heldq.Enqueue */ INTO held
       (id)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID
INSERT /* heldq.EnqueueMany */ INTO held
       (id)
SELECT id_new
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* heldq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS done
FROM   held;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: param id int64, 2: limit
SELECT /* heldq.Peek */
       id
FROM   held
WHERE  state = 0
AND    id = $1
ORDER  BY id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* heldq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* heldq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('held')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* heldq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* heldq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('held_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('held')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: the only row of each value that is asked for: held_pkey serves already
