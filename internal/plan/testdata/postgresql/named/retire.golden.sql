-- Package retireq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param before time.Time, 2: limit
UPDATE /* retireq.Claim */ jobs
SET    state = 'retired'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    (made < $1)
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, run_at, till, tries, reason;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'retired' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* retireq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'retired'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* retireq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'retired') AS done
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* retireq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param before time.Time, 2: limit
SELECT /* retireq.Peek */
       id, made, run_at, till, tries, reason
FROM   jobs
WHERE  state = 'new'
AND    (made < $1)
ORDER  BY id NULLS FIRST
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* retireq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* retireq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('made', 'timestamptz'),
               ('run_at', 'timestamptz'),
               ('till', 'timestamptz'),
               ('tries', 'integer'),
               ('reason', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* retireq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* retireq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_ready', 'id nulls first', 'id nulls first', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
-- jobsq advises the same
CREATE INDEX CONCURRENTLY jobs_ready ON jobs (id NULLS FIRST)
WHERE  state = 'new';
