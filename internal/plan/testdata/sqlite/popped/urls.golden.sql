-- Package urlsq uses the table urls as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
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

-- sql/claim.sql
-- claim: ready to done
-- locks: the database for writing, while the statement runs
-- index: (job, id) WHERE processed = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param jobValue int64, 2: limit
UPDATE /* urlsq.Claim */ urls
SET    processed = 1,
       seen = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   urls
           WHERE  processed = 0
           AND    job = ?1
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, job, uri;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (seen) WHERE processed = 1 would find them
-- arguments: 1: older, 2: limit
DELETE /* urlsq.Purge */ FROM urls
WHERE  id IN (
           SELECT id
           FROM   urls
           WHERE  processed = 1
           AND    seen <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Job, 2: new URI
INSERT /* urlsq.Enqueue */ INTO urls
       (job, uri)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Job URI
INSERT /* urlsq.EnqueueMany */ INTO urls
       (job, uri)
SELECT job_new, uri_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS job_new,
                  json_extract(value, '$[1]') AS uri_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* urlsq.Stats */
       count(*) FILTER (WHERE processed = 0) AS ready,
       count(*) FILTER (WHERE processed = 1) AS done
FROM   urls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same job is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param jobValue int64
SELECT /* urlsq.StatsOf */
       count(*) FILTER (WHERE processed = 0) AS ready,
       count(*) FILTER (WHERE processed = 1) AS done
FROM   urls
WHERE  job = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by job
-- locks: none
-- index: (job, id) WHERE processed = 0
SELECT /* urlsq.Backlog */
       job,
       count(*) AS ready
FROM   urls
WHERE  processed = 0
GROUP  BY job
ORDER  BY job;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (job, id) WHERE processed = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param jobValue int64, 2: limit
SELECT /* urlsq.Peek */
       id, job, uri
FROM   urls
WHERE  processed = 0
AND    job = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* urlsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* urlsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('job', 'int'),
           ('uri', 'TEXT'),
           ('processed', 'INTEGER'),
           ('seen', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('urls') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* urlsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('urls_ready', 'job, id', 'job', 'processed=0')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('urls') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX urls_ready ON urls (job, id)
WHERE  processed = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
