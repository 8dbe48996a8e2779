-- Package levelsq uses the table levels as a queue of jobs on SQLite 3.41 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready or not, by what it writes to level
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
-- claim: changes ready rows, which stay; level tells whether they are ready
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: given level int64, 2: param level int64, 3: param id int64, 4: limit
UPDATE /* levelsq.Claim */ levels
SET    level = ?1
WHERE  id IN (
           SELECT id
           FROM   levels
           WHERE  (level < ?2)
           AND    id = ?3
           ORDER  BY id
           LIMIT  ?4)
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: the database for writing, while the statement runs
INSERT /* levelsq.Enqueue */ INTO levels
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* levelsq.Stats */
       count(*) AS ready
FROM   levels;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param level int64, 2: param id int64, 3: limit
SELECT /* levelsq.Peek */
       id
FROM   levels
WHERE  (level < ?1)
AND    id = ?2
ORDER  BY id
LIMIT  ?3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* levelsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.41'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 41);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* levelsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('level', 'SMALLINT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('levels') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
