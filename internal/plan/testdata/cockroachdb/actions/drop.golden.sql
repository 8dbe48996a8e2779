-- Package dropq uses the table jobs as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
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
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to gone
-- locks: the rows it deletes, until commit; of two that meet one is undone and made again
-- index: jobs_host (host)
-- arguments: 1: param host string, 2: limit
DELETE /* dropq.Claim */ FROM jobs
WHERE  host = $1
ORDER  BY id
LIMIT  $2
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
-- index: jobs_host (host)
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
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
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
               ('priority', 'bigint'),
               ('till', 'timestamptz'),
               ('reason', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* dropq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_host')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: jobs_host serves already
