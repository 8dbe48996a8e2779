-- Package recordsq uses the table records as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> (deleted)
-- 	held     --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: rows without a value in column "consume_after" stand last in the order, where PostgreSQL puts nulls (nulls=first puts them first)

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: records_ready (part, of_table, consume_after, id) WHERE status = 1
-- isolation: read committed
-- arguments: 1: param ofTable string, 2: held Part, 3: held ID, 4: limit
SELECT /* recordsq.Claim */
       id, part, of_table, consume_after
FROM   records
WHERE  status = 1
AND    (consume_after <= now() OR consume_after IS NULL)
AND    of_table = $1
AND    (part, id) NOT IN (SELECT part_held, id_held FROM unnest($2::bigint[], $3::bigint[]) AS job (part_held, id_held))
ORDER  BY part, consume_after, id
LIMIT  $4
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Part, 2: batch ID
UPDATE /* recordsq.Complete */ records
SET    status = 2
FROM   unnest($1::bigint[], $2::bigint[]) AS job (part_held, id_held)
WHERE  part = part_held
AND    id = id_held
AND    CASE WHEN status = 1 THEN true END
RETURNING part, id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Part, 2: batch ID
DELETE /* recordsq.Fail */ FROM records
USING  unnest($1::bigint[], $2::bigint[]) AS job (part_held, id_held)
WHERE  part = part_held
AND    id = id_held
AND    CASE WHEN status = 1 THEN true END
RETURNING part, id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Part, 3: batch ID
UPDATE /* recordsq.Requeue */ records
SET    consume_after = CASE WHEN $1 > 0.0 THEN statement_timestamp() + make_interval(secs => $1) ELSE consume_after END
FROM   unnest($2::bigint[], $3::bigint[]) AS job (part_held, id_held)
WHERE  part = part_held
AND    id = id_held
AND    CASE WHEN status = 1 THEN true END
RETURNING part, id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (part, id) WHERE status = 2 would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* recordsq.Purge */ picked AS MATERIALIZED (
    SELECT part, id
    FROM   records
    WHERE  status = 2
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM records
USING  picked
WHERE  records.part = picked.part
AND    records.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Part, 2: new OfTable, 3: new ConsumeAfter
INSERT /* recordsq.Enqueue */ INTO records
       (part, of_table, consume_after)
VALUES (coalesce($1::bigint, 1), $2, coalesce($3::timestamptz, now()))
RETURNING part, id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Part, 2: new_batch OfTable, 3: new_batch ConsumeAfter
INSERT /* recordsq.EnqueueMany */ INTO records
       (part, of_table, consume_after)
SELECT coalesce(part_new, 1), of_table_new, coalesce(consume_after_new, now())
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS job (part_new, of_table_new, consume_after_new, job_order)
ORDER  BY job_order
RETURNING part, id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* recordsq.Stats */
       count(*) FILTER (WHERE status = 1 AND (consume_after <= now() OR consume_after IS NULL)) AS ready,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 1 AND consume_after > now()) AS delayed,
       extract(epoch FROM now() - min(consume_after) FILTER (WHERE status = 1 AND (consume_after <= now() OR consume_after IS NULL))) AS oldest_ready
FROM   records;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same of_table is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param ofTable string
SELECT /* recordsq.StatsOf */
       count(*) FILTER (WHERE status = 1 AND (consume_after <= now() OR consume_after IS NULL)) AS ready,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 1 AND consume_after > now()) AS delayed,
       extract(epoch FROM now() - min(consume_after) FILTER (WHERE status = 1 AND (consume_after <= now() OR consume_after IS NULL))) AS oldest_ready
FROM   records
WHERE  of_table = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by of_table
-- locks: none
-- index: records_ready (part, of_table, consume_after, id) WHERE status = 1
SELECT /* recordsq.Backlog */
       of_table,
       count(*) FILTER (WHERE (consume_after <= now() OR consume_after IS NULL)) AS ready,
       count(*) FILTER (WHERE consume_after > now()) AS delayed,
       extract(epoch FROM now() - min(consume_after) FILTER (WHERE (consume_after <= now() OR consume_after IS NULL))) AS oldest_ready
FROM   records
WHERE  status = 1
GROUP  BY of_table
ORDER  BY of_table;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: records_ready (part, of_table, consume_after, id) WHERE status = 1
-- isolation: read committed
-- arguments: 1: param ofTable string, 2: limit
SELECT /* recordsq.Peek */
       id, part, of_table, consume_after
FROM   records
WHERE  status = 1
AND    (consume_after <= now() OR consume_after IS NULL)
AND    of_table = $1
ORDER  BY part, consume_after, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* recordsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* recordsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('part', 'bigint'),
               ('of_table', 'text'),
               ('consume_after', 'timestamptz'),
               ('status', 'smallint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('records')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* recordsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* recordsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('records_ready', 'part, of_table, consume_after, id', 'part, of_table, consume_after, id', 'status=1')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('records')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over: records_ready serves already
