-- Package crawlsq uses the table crawls as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates crawls_like.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     CockroachDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: no order is said: rows are taken in the order of the key, site, no
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in url; producers that do not add jobs by Enqueue may still add one beside it
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: the primary key (site, no)
-- arguments: 1: limit
UPDATE /* crawlsq.Claim */ crawls
SET    till = now() + interval '5 minutes'
WHERE  (till <= now() OR till IS NULL)
ORDER  BY site, no
LIMIT  $1
RETURNING crawls.site, crawls.no, crawls.url, crawls.till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch Site, 2: batch No, 3: batch Till
DELETE /* crawlsq.Complete */ FROM crawls
USING  unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS job (site_held, no_held, till_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING site, no;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch Site, 2: batch No, 3: batch Till
DELETE /* crawlsq.Fail */ FROM crawls
USING  unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS job (site_held, no_held, till_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING site, no;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch Site, 2: batch No, 3: batch Till
UPDATE /* crawlsq.Requeue */ crawls
SET    till = NULL
FROM   unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS job (site_held, no_held, till_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING site, no;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch Site, 2: batch No, 3: batch Till
UPDATE /* crawlsq.Extend */ crawls
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS job (site_held, no_held, till_held)
WHERE  site = site_held
AND    no = no_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING site, no, till;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in url: then it adds none
-- locks: the new row, until commit
-- index: (url)
-- arguments: 1: new Site, 2: new No, 3: new URL
INSERT /* crawlsq.Enqueue */ INTO crawls
       (site, no, url)
SELECT $1, $2, coalesce($3::varchar, '/')
WHERE  NOT EXISTS (
           SELECT 1
           FROM   crawls
           WHERE  url = coalesce($3::varchar, '/'))
RETURNING site, no;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* crawlsq.Stats */
       count(*) FILTER (WHERE (till <= now() OR till IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > now()) AS running,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= now()) AS expired
FROM   crawls;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (site, no)
-- arguments: 1: limit
SELECT /* crawlsq.Peek */
       site, no, url
FROM   crawls
WHERE  (till <= now() OR till IS NULL)
ORDER  BY site, no
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* crawlsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* crawlsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('site', 'bigint'),
               ('no', 'bigint'),
               ('url', 'varchar'),
               ('till', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('crawls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* crawlsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('crawls_pkey'),
               ('crawls_like')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('crawls')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: crawls_pkey serves already

-- serves Enqueue: the rows that are like a new job
CREATE INDEX crawls_like ON crawls (url);
