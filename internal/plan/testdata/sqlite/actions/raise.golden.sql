-- Package raiseq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> ready again
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes the rows that its caller names, and that is all.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- Besides the queue's own rows it writes erased (Claim), each in the transaction of the operation.
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

-- sql/claim_lock.sql
-- claim: reads ready rows, which claim.sql then writes
-- locks: none of its own; reserve.sql has locked the database for writing
-- index: the primary key (id)
-- arguments: 1: param id int64, 2: limit
SELECT /* raiseq.Claim */
       id
FROM   jobs
WHERE  id = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay ready
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: given by int, 2: batch_all ID
UPDATE /* raiseq.Claim */ jobs
SET    priority = (priority + ?1)
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
RETURNING id, host, state, priority, till, reason;

-- sql/claim_insert_erased.sql
-- claim: inserts rows into erased for the rows that claim_lock.sql locked, before claim.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* raiseq.Claim */ INTO erased
       (id, host)
SELECT held.id, held.host
FROM   jobs AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* raiseq.Reserve */ FROM jobs
WHERE  0;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* raiseq.Stats */
       count(*) AS ready
FROM   jobs;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id int64, 2: limit
SELECT /* raiseq.Peek */
       id, host, state, priority, till, reason
FROM   jobs
WHERE  id = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* raiseq.Verify */
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
WITH /* raiseq.Verify */ want (name, type) AS (
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

-- sql/verify_columns_also.sql
-- verify: columns of erased
-- locks: none
WITH /* raiseq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('host', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('erased') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
