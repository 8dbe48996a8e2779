-- Package raisedq uses the table raised as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready again
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes the rows that its caller names, and that is all.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- Besides the queue's own rows it writes raises (Claim), each in the transaction of the operation.
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

-- sql/claim_lock.sql
-- claim: reads ready rows, which claim.sql then writes
-- locks: none of its own; reserve.sql has locked the database for writing
-- index: the primary key (id)
-- arguments: 1: param id []int64, 2: limit
SELECT /* raisedq.Claim */
       id
FROM   raised
WHERE  id IN (SELECT value FROM json_each(?1))
ORDER  BY id
LIMIT  ?2;

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay ready
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: given by int, 2: batch_all ID
UPDATE /* raisedq.Claim */ raised
SET    priority = (priority + ?1)
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
RETURNING id, priority, twice;

-- sql/claim_insert_raises.sql
-- claim: inserts rows into raises for the rows that claim_lock.sql locked, before claim.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* raisedq.Claim */ INTO raises
       (id, was)
SELECT held.id, held.priority
FROM   raised AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* raisedq.Reserve */ FROM raised
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Priority
INSERT /* raisedq.Enqueue */ INTO raised
       (priority)
VALUES (coalesce(?1, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Priority
INSERT /* raisedq.EnqueueMany */ INTO raised
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
SELECT /* raisedq.Stats */
       count(*) AS ready
FROM   raised;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same id is for
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id []int64
SELECT /* raisedq.StatsOf */
       count(*) AS ready
FROM   raised
WHERE  id IN (SELECT value FROM json_each(?1));

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id []int64, 2: limit
SELECT /* raisedq.Peek */
       id, priority, twice
FROM   raised
WHERE  id IN (SELECT value FROM json_each(?1))
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* raisedq.Verify */
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
WITH /* raisedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('priority', 'INTEGER'),
           ('twice', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('raised') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of raises
-- locks: none
WITH /* raisedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('was', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('raises') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
