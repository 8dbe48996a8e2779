-- Package dropq uses the table jobs as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A row that another transaction is about to add or to make ready is not waited for: it is found once that has committed. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
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
-- note: rows are taken as they came, by column "id"
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; waits for rows that are locked
-- index: jobs_host (host); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param host string, 2: limit
DELETE /* dropq.Claim */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  host = $1
           ORDER  BY id
           LIMIT  $2
           FOR    UPDATE))
RETURNING id, host, state, priority, till, reason;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Stats */
       count(*) AS ready
FROM   jobs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same host is for
-- locks: none
-- index: jobs_host (host)
-- arguments: 1: param host string
SELECT /* dropq.StatsOf */
       count(*) AS ready
FROM   jobs
WHERE  host = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by host
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Backlog */
       host,
       count(*) AS ready
FROM   jobs
GROUP  BY host
ORDER  BY host;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: jobs_host (host); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param host string, 2: limit
SELECT /* dropq.Peek */
       id, host, state, priority, till, reason
FROM   jobs
WHERE  host = $1
ORDER  BY id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* dropq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('host', 'varchar'),
               ('state', 'varchar'),
               ('priority', 'integer'),
               ('till', 'timestamptz'),
               ('reason', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* dropq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* dropq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_host', 'host', 'host', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows, which are then sorted: jobs_host serves already
