-- Package bumpsq uses the table bumps as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready again
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

-- sql/claim.sql
-- claim: changes ready rows, which stay ready
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: given priority int64, 2: param id []int64, 3: limit
UPDATE /* bumpsq.Claim */ bumps
SET    priority = ?1,
       seen = seen + 1
WHERE  id IN (
           SELECT id
           FROM   bumps
           WHERE  id IN (SELECT value FROM json_each(?2))
           ORDER  BY id
           LIMIT  ?3)
RETURNING id, priority;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Priority
INSERT /* bumpsq.Enqueue */ INTO bumps
       (priority)
VALUES (coalesce(?1, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Priority
INSERT /* bumpsq.EnqueueMany */ INTO bumps
       (priority)
SELECT coalesce(priority_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS priority_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* bumpsq.Stats */
       count(*) AS ready
FROM   bumps;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same id is for
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id []int64
SELECT /* bumpsq.StatsOf */
       count(*) AS ready
FROM   bumps
WHERE  id IN (SELECT value FROM json_each(?1));

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id []int64, 2: limit
SELECT /* bumpsq.Peek */
       id, priority
FROM   bumps
WHERE  id IN (SELECT value FROM json_each(?1))
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* bumpsq.Verify */
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
WITH /* bumpsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('priority', 'INTEGER'),
           ('seen', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('bumps') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
