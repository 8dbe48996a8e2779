-- Package urlsq uses the table urls as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates urls_ready.
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
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (job, id) WHERE processed = false
-- isolation: read committed
-- arguments: 1: param jobValue int32, 2: limit
UPDATE /* urlsq.Claim */ urls
SET    processed = true,
       seen = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   urls
           WHERE  processed = false
           AND    job = $1
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, job, uri;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (seen) WHERE processed = true would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* urlsq.Purge */ FROM urls
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   urls
           WHERE  processed = true
           AND    seen <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Job, 2: new URI
INSERT /* urlsq.Enqueue */ INTO urls
       (job, uri)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Job, 2: new_batch URI
INSERT /* urlsq.EnqueueMany */ INTO urls
       (job, uri)
SELECT job_new, uri_new
FROM   unnest($1::integer[], $2::text[]) WITH ORDINALITY AS job (job_new, uri_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* urlsq.Stats */
       count(*) FILTER (WHERE processed = false) AS ready,
       count(*) FILTER (WHERE processed = true) AS done
FROM   urls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param jobValue int32
SELECT /* urlsq.StatsOf */
       count(*) FILTER (WHERE processed = false) AS ready,
       count(*) FILTER (WHERE processed = true) AS done
FROM   urls
WHERE  job = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job
-- locks: none
-- index: (job, id) WHERE processed = false
SELECT /* urlsq.Backlog */
       job,
       count(*) AS ready
FROM   urls
WHERE  processed = false
GROUP  BY job
ORDER  BY job;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (job, id) WHERE processed = false
-- isolation: read committed
-- arguments: 1: param jobValue int32, 2: limit
SELECT /* urlsq.Peek */
       id, job, uri
FROM   urls
WHERE  processed = false
AND    job = $1
ORDER  BY id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* urlsq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* urlsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('job', 'integer'),
               ('uri', 'text'),
               ('processed', 'boolean'),
               ('seen', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('urls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* urlsq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* urlsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('urls_ready', 'job, id', 'job, id', 'processed=false')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('urls')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX urls_ready ON urls (job ASC, id ASC)
WHERE  processed = false;
