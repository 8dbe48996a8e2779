-- Package pagesq uses the table pages as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes journal (Enqueue), each in the transaction of the operation. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pages_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, site, path
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=absent leaves a job out where a row is like it in site, path (primary key)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (site, path) WHERE state = 'new'
-- arguments: 1: limit
UPDATE /* pagesq.Claim */ pages
SET    state = 'busy'
WHERE  state = 'new'
ORDER  BY site, path
LIMIT  $1
RETURNING pages.site, pages.path;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch Site, 2: batch Path
UPDATE /* pagesq.Complete */ pages
SET    state = 'read'
FROM   unnest($1::bigint[], $2::varchar[]) AS job (site_held, path_held)
WHERE  site = site_held
AND    path = path_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING site, path;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch Site, 2: batch Path
UPDATE /* pagesq.Fail */ pages
SET    state = 'new'
FROM   unnest($1::bigint[], $2::varchar[]) AS job (site_held, path_held)
WHERE  site = site_held
AND    path = path_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING site, path;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch Site, 2: batch Path
UPDATE /* pagesq.Requeue */ pages
SET    state = 'new'
FROM   unnest($1::bigint[], $2::varchar[]) AS job (site_held, path_held)
WHERE  site = site_held
AND    path = path_held
AND    CASE WHEN state = 'busy' THEN true END
RETURNING site, path;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (site, path) WHERE state = 'read' would find them
-- arguments: 1: limit
DELETE /* pagesq.Purge */ FROM pages
WHERE  state = 'read'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it returns none
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- arguments: 1: new Site, 2: new Path
INSERT /* pagesq.Enqueue */ INTO pages
       (site, path)
VALUES ($1, $2)
ON     CONFLICT DO NOTHING
RETURNING site, path;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch Path
INSERT /* pagesq.Enqueue */ INTO journal
       (what, site)
SELECT held.path, held.site
FROM   pages AS held,
       unnest($1::bigint[], $2::varchar[]) AS job (site_held, path_held)
WHERE  held.site = site_held
AND    held.path = path_held;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pagesq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'read') AS done
FROM   pages;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (site, path) WHERE state = 'new'
SELECT /* pagesq.Backlog */
       count(*) AS ready
FROM   pages
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (site, path) WHERE state = 'new'
-- arguments: 1: limit
SELECT /* pagesq.Peek */
       site, path
FROM   pages
WHERE  state = 'new'
ORDER  BY site, path
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pagesq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('site', 'bigint'),
               ('path', 'varchar'),
               ('state', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('pages')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* pagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('what', 'varchar'),
               ('site', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('journal')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pagesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('pages_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('pages')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX pages_ready ON pages (site, path)
WHERE  state = 'new';
