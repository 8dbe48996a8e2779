-- Package marksq uses the table marks as a queue of jobs on SQLite 3.41 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- Besides the queue's own rows it writes totals (Enqueue), each in the transaction of the operation.
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
-- note: no order is said: rows are taken in the order of the key, id

-- sql/claim.sql
-- claim: ready to gone
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
DELETE /* marksq.Claim */ FROM marks
WHERE  rowid IN (
           SELECT rowid
           FROM   marks
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, address;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new ID, 2: new Address
INSERT /* marksq.Enqueue */ INTO marks
       (id, address)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all ID Address
INSERT /* marksq.EnqueueMany */ INTO marks
       (id, address)
SELECT id_new, address_new
FROM   (
           SELECT key AS job_order,
                  unhex(json_extract(value, '$[0]')) AS id_new,
                  json_extract(value, '$[1]') AS address_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_insert_totals.sql
-- enqueue: inserts rows into totals for the rows that were added
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* marksq.Enqueue */ INTO totals
       (address)
SELECT held.address
FROM   marks AS held
WHERE  held.id IN (SELECT unhex(json_extract(value, '$[0]')) FROM json_each(?1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* marksq.Stats */
       count(*) AS ready
FROM   marks;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* marksq.Peek */
       id, address
FROM   marks
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* marksq.Verify */
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
WITH /* marksq.Verify */ want (name, type) AS (
    VALUES ('id', 'BLOB'),
           ('address', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('marks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of totals
-- locks: none
WITH /* marksq.Verify */ want (name, type) AS (
    VALUES ('address', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('totals') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
