-- Package dropsq uses the table drops as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim deletes the rows that its caller names, and that is all.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A crash leaves it done as a whole or not at all. Then the rows are gone, and nothing is left to be written.
--
-- Besides the queue's own rows it writes dropped (Claim), each in the transaction of the operation.
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
-- claim: reads ready rows, which claim.sql then deletes
-- locks: none of its own; reserve.sql has locked the database for writing
-- index: the primary key (id)
-- arguments: 1: param id []int64, 2: limit
SELECT /* dropsq.Claim */
       id, body
FROM   drops
WHERE  id IN (SELECT value FROM json_each(?1))
ORDER  BY id
LIMIT  ?2;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* dropsq.Claim */ FROM drops
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/claim_insert_dropped.sql
-- claim: inserts rows into dropped for the rows that claim_lock.sql locked, before claim.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: given reason string, 2: batch_all ID
INSERT /* dropsq.Claim */ INTO dropped
       (id, body, reason)
SELECT held.id, held.body, ?1
FROM   drops AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2));

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* dropsq.Reserve */ FROM drops
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Body
INSERT /* dropsq.Enqueue */ INTO drops
       (body)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Body
INSERT /* dropsq.EnqueueMany */ INTO drops
       (body)
SELECT body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropsq.Stats */
       count(*) AS ready
FROM   drops;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same id is for
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id []int64
SELECT /* dropsq.StatsOf */
       count(*) AS ready
FROM   drops
WHERE  id IN (SELECT value FROM json_each(?1));

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id []int64, 2: limit
SELECT /* dropsq.Peek */
       id, body
FROM   drops
WHERE  id IN (SELECT value FROM json_each(?1))
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropsq.Verify */
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
WITH /* dropsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('body', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('drops') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of dropped
-- locks: none
WITH /* dropsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('body', 'TEXT'),
           ('reason', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('dropped') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
