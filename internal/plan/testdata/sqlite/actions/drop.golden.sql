-- Package dropq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
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

-- sql/claim.sql
-- claim: ready to gone
-- locks: the database for writing, while the statement runs
-- index: jobs_host (host)
-- arguments: 1: param host string, 2: limit
DELETE /* dropq.Claim */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs INDEXED BY jobs_host
           WHERE  host = ?1
           ORDER  BY id
           LIMIT  ?2)
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
WHERE  host = ?1;

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
FROM   jobs INDEXED BY jobs_host
WHERE  host = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropq.Verify */
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
WITH /* dropq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('host', 'TEXT'),
           ('state', 'TEXT'),
           ('priority', 'INTEGER'),
           ('till', 'INTEGER'),
           ('reason', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('jobs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* dropq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_host', '', '', '')
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
    FROM   pragma_index_list('jobs') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted: jobs_host serves already
