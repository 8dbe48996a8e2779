-- Package looseq uses the table loose as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
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
-- note: there is no primary key and no unique key without nulls, so a row is named by its physical place, which is good inside one transaction only
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken in any order: nothing orders them

-- sql/claim_lock.sql
-- claim: reads ready rows, which claim.sql then deletes
-- locks: none of its own; reserve.sql has locked the database for writing
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
SELECT /* looseq.Claim */
       rowid, body_id
FROM   loose
LIMIT  ?1;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all RowID
DELETE /* looseq.Claim */ FROM loose
WHERE  rowid IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/payload.sql
-- payload: what claimed jobs have in heads
-- locks: none
-- index: the key
-- arguments: 1: batch_all RowID
SELECT /* looseq.Payload */
       loose.rowid, heads.subject
FROM   loose
       LEFT JOIN heads
       ON  (heads.body_id = loose.body_id)
WHERE  loose.rowid IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* looseq.Reserve */ FROM loose
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new BodyID
INSERT /* looseq.Enqueue */ INTO loose
       (body_id)
VALUES (?1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all BodyID
INSERT /* looseq.EnqueueMany */ INTO loose
       (body_id)
SELECT body_id_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS body_id_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* looseq.Stats */
       count(*) AS ready
FROM   loose;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
SELECT /* looseq.Peek */
       rowid, body_id
FROM   loose
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* looseq.Verify */
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
WITH /* looseq.Verify */ want (name, type) AS (
    VALUES ('body_id', 'bigint')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('loose') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_payload.sql
-- verify: columns of heads
-- locks: none
WITH /* looseq.Verify */ want (name, type) AS (
    VALUES ('subject', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('heads') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
