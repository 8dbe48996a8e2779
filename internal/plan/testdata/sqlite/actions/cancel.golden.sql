-- Package cancelq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes the rows that its caller names, and that is all.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
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
-- claim: ready to done
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: given reason *string, 2: param id int64, 3: limit
UPDATE /* cancelq.Claim */ jobs
SET    state = 'cancelled',
       till = NULL,
       reason = ?1
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state IN ('new', 'busy')
           AND    id = ?2
           ORDER  BY id
           LIMIT  ?3)
RETURNING id, host, priority;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* cancelq.Stats */
       count(*) FILTER (WHERE state IN ('new', 'busy')) AS ready,
       count(*) FILTER (WHERE state = 'cancelled') AS done
FROM   jobs;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id int64, 2: limit
SELECT /* cancelq.Peek */
       id, host, priority
FROM   jobs
WHERE  state IN ('new', 'busy')
AND    id = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* cancelq.Verify */
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
WITH /* cancelq.Verify */ want (name, type) AS (
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
