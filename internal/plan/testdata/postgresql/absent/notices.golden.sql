-- Package noticesq uses the table notices as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates notices_ready.
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
-- note: enqueue=absent leaves a job out where a row is like it in body (unique key notices_body_key), or in item (unique index notices_waiting, of rows where sent = false)
-- note: warning: a row that is held keeps those out that are like it in item, and leaves when its job is complete: if the worker has read before what the job is about, what Enqueue left out meanwhile is done by nobody; call Complete right behind Claim, before that is read, and Enqueue waits for the transaction and adds the job; or say enqueue=update, by which it writes a column of the row that is there, and waits as well

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE sent = false
-- isolation: read committed
-- arguments: 1: held ID, 2: limit
SELECT /* noticesq.Claim */
       id, item, body, note
FROM   notices
WHERE  sent = false
AND    id <> ALL ($1::bigint[])
ORDER  BY id NULLS FIRST
LIMIT  $2
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* noticesq.Complete */ notices
SET    sent = true
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = false THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE sent = true would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* noticesq.Purge */ FROM notices
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   notices
           WHERE  sent = true
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it returns none
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- arguments: 1: new Item, 2: new Body, 3: new Note
INSERT /* noticesq.Enqueue */ INTO notices
       (item, body, note)
VALUES ($1, $2, $3)
ON     CONFLICT DO NOTHING
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* noticesq.Stats */
       count(*) FILTER (WHERE sent = false) AS ready,
       count(*) FILTER (WHERE sent = true) AS done
FROM   notices;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: notices_waiting (item) WHERE sent = false
SELECT /* noticesq.Backlog */
       count(*) AS ready
FROM   notices
WHERE  sent = false;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE sent = false
-- isolation: read committed
-- arguments: 1: limit
SELECT /* noticesq.Peek */
       id, item, body, note
FROM   notices
WHERE  sent = false
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* noticesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* noticesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('item', 'bigint'),
               ('body', 'text'),
               ('note', 'text'),
               ('sent', 'boolean')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('notices')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* noticesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* noticesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('notices_ready', 'id nulls first', 'id nulls first', 'sent=false')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('notices')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY notices_ready ON notices (id NULLS FIRST)
WHERE  sent = false;
