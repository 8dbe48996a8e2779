-- Package callsq uses the table calls as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_ready and calls_like.
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
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again
-- note: enqueue=absent leaves a job out where a row is like it in hash, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it
-- note: warning: a row that is held keeps those out that are like it in hash, of those that are ready, and Enqueue does not wait for who holds it: if the worker has read before what the job is about, what Enqueue left out meanwhile is done by nobody; go by a unique index over these columns in place of like=, and call Complete right behind Claim, then Enqueue waits and adds the job

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: held ID, 2: limit
SELECT /* callsq.Claim */
       id, hash
FROM   calls
WHERE  state = 'new'
AND    id <> ALL ($1::bigint[])
ORDER  BY id NULLS FIRST
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* callsq.Complete */ FROM calls
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'new' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* callsq.Fail */ FROM calls
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'new' THEN true END
RETURNING id;

-- sql/enqueue_gate.sql
-- enqueue: jobs that are alike in hash are added one after the other
-- locks: a number made of the table and these columns, and one of the table that producers share, until commit
-- index: none; it reads nothing
-- isolation: read committed
-- arguments: 1: new Hash
SELECT /* callsq.Enqueue */
       1
FROM   pg_advisory_xact_lock('calls'::regclass::oid::int, hashtext('enqueue ' || concat_ws(' ', $1::varchar))),
       pg_advisory_xact_lock_shared('calls'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue_alone.sql
-- enqueue: a call with more than 100 jobs adds them while no other producer adds any
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
SELECT /* callsq.EnqueueMany */
       1
FROM   pg_advisory_xact_lock('calls'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in hash, of those that are ready: then it adds none
-- locks: the new row, until commit
-- index: (hash) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: new Hash
INSERT /* callsq.Enqueue */ INTO calls
       (hash, state)
SELECT $1::varchar, 'new'
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('rows that are alike are looked for in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END
AND    NOT EXISTS (
           SELECT 1
           FROM   calls
           WHERE  hash = $1::varchar
           AND    state = 'new')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* callsq.Stats */
       count(*) AS ready
FROM   calls
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* callsq.Peek */
       id, hash
FROM   calls
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* callsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('hash', 'varchar'),
               ('state', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('calls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* callsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* callsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('calls_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('calls_like', 'hash', 'hash', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('calls')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY calls_ready ON calls (id NULLS FIRST)
WHERE  state = 'new';

-- serves Enqueue: the rows that are like a new job
CREATE INDEX CONCURRENTLY calls_like ON calls (hash)
WHERE  state = 'new';
