-- Package reportq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_report_ready.
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
-- note: no Purge here deletes rows that are done: the queue jobs over the same table may have them as ready. Delete rows where the last queue is done with them (done=delete there, or its Purge)
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here

-- sql/claim.sql
-- claim: ready to done
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE reported = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* reportq.Claim */ jobs
SET    reported = 1
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  reported = 0
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, host, state, run_at;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* reportq.Stats */
       count(*) FILTER (WHERE reported = 0) AS ready,
       count(*) FILTER (WHERE reported = 1) AS done
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE reported = 0
SELECT /* reportq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  reported = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE reported = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* reportq.Peek */
       id, host, state, run_at
FROM   jobs
WHERE  reported = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* reportq.Verify */
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
WITH /* reportq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('host', 'TEXT'),
           ('state', 'TEXT'),
           ('reported', 'INTEGER'),
           ('run_at', 'INTEGER')
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
WITH /* reportq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_report_ready', 'id', 'id', 'reported=0')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX jobs_report_ready ON jobs (id)
WHERE  reported = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
