-- Package flipsq uses the table flips as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates flips_ready.
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
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE processed IS NULL
-- arguments: 1: limit
UPDATE /* flipsq.Claim */ flips
SET    processed = now()
WHERE  processed IS NULL
AND    (until_at > now() OR until_at IS NULL)
ORDER  BY id
LIMIT  $1
RETURNING id, status, until_at;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (processed) WHERE processed IS NOT NULL would find them
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  processed IS NOT NULL
AND    processed <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/purge_overdue.sql
-- purge_overdue: ready and past its time to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE processed IS NULL; it reads those that are not old enough as well, which one on (until_at) WHERE processed IS NULL would not
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  processed IS NULL
AND    until_at <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Status, 3: new UntilAt
INSERT /* flipsq.Enqueue */ INTO flips
       (id, status, until_at)
VALUES (coalesce($1::bigint, unique_rowid()), $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Status, 3: new_batch UntilAt
INSERT /* flipsq.EnqueueMany */ INTO flips
       (id, status, until_at)
SELECT coalesce(id_new, unique_rowid()), status_new, until_at_new
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS job (id_new, status_new, until_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* flipsq.Stats */
       count(*) FILTER (WHERE processed IS NULL AND (until_at > now() OR until_at IS NULL)) AS ready,
       count(*) FILTER (WHERE processed IS NOT NULL) AS done
FROM   flips;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE processed IS NULL; it reads others as well
SELECT /* flipsq.Backlog */
       count(*) AS ready
FROM   flips
WHERE  processed IS NULL
AND    (until_at > now() OR until_at IS NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE processed IS NULL
-- arguments: 1: limit
SELECT /* flipsq.Peek */
       id, status, until_at
FROM   flips
WHERE  processed IS NULL
AND    (until_at > now() OR until_at IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* flipsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* flipsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('status', 'text'),
               ('until_at', 'timestamptz'),
               ('processed', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('flips')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* flipsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('flips_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('flips')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX flips_ready ON flips (id)
WHERE  processed IS NULL;
