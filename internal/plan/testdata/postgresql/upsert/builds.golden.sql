-- Package buildsq uses the table builds as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> ready, while tries are left
-- 	held     --Fail------------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates builds_ready.
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
-- note: enqueue=update changes the row that is like a new job in name, version (unique key builds_name_version_key): attempt = 0, priority = {priority} unless nil, last_attempt = NULL

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (priority, attempt, id)
-- isolation: read committed
-- arguments: 1: held ID, 2: limit
SELECT /* buildsq.Claim */
       id, name, version, attempt, priority
FROM   builds
WHERE  id <> ALL ($1::integer[])
ORDER  BY priority, attempt, id
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* buildsq.Complete */ FROM builds
WHERE  id = ANY ($1::integer[])
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* buildsq.Fail */ builds
SET    attempt = attempt + 1,
       last_attempt = statement_timestamp()
WHERE  id = ANY ($1::integer[])
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* buildsq.Fail */ FROM builds
WHERE  id = ANY ($1::integer[])
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in name, version (unique key builds_name_version_key)
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new Name, 2: new Version, 3: new Priority
INSERT /* buildsq.Enqueue */ INTO builds
       (name, version, priority)
VALUES ($1, $2, coalesce($3::integer, 0))
ON     CONFLICT (name, version) DO UPDATE
SET    attempt = 0,
       priority = coalesce($3::integer, builds.priority),
       last_attempt = NULL
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(*) AS ready
FROM   builds;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority, attempt, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* buildsq.Peek */
       id, name, version, attempt, priority
FROM   builds
ORDER  BY priority, attempt, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buildsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'integer'),
               ('name', 'text'),
               ('version', 'text'),
               ('attempt', 'integer'),
               ('priority', 'integer'),
               ('last_attempt', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('builds')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* buildsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buildsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('builds_ready', 'priority, attempt, id', 'priority, attempt, id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('builds')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY builds_ready ON builds (priority, attempt, id);
