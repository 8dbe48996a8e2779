-- Package unlockedq uses the table unlocked as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
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
-- note: done:=1 is only written, so nothing tells a finished row: there is no Purge of it; done=… tests it as well
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to done
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
UPDATE /* unlockedq.Claim */ unlocked
SET    state = 1
WHERE  id IN (
           SELECT id
           FROM   unlocked
           WHERE  (state > 1000)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* unlockedq.Enqueue */ INTO unlocked
       (state)
VALUES (1001)
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* unlockedq.Stats */
       count(*) AS ready
FROM   unlocked
WHERE  (state > 1000);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* unlockedq.Peek */
       id
FROM   unlocked
WHERE  (state > 1000)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* unlockedq.Verify */
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
WITH /* unlockedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'int')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('unlocked') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
