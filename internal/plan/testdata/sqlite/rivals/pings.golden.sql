-- Package pingsq uses the table pings as a queue of jobs on SQLite 3.38 and later.
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

-- sql/claim.sql
-- claim: ready to gone
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
DELETE /* pingsq.Claim */ FROM pings
WHERE  id IN (
           SELECT id
           FROM   pings NOT INDEXED
           WHERE  at <= unixepoch()
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, at;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new At
INSERT /* pingsq.Enqueue */ INTO pings
       (at)
VALUES (coalesce(?1, unixepoch()))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all At
INSERT /* pingsq.EnqueueMany */ INTO pings
       (at)
SELECT coalesce(at_new, unixepoch())
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pingsq.Stats */
       count(*) FILTER (WHERE at <= unixepoch()) AS ready,
       count(*) FILTER (WHERE at > unixepoch()) AS delayed,
       (unixepoch() - min(at) FILTER (WHERE at <= unixepoch())) AS oldest_ready
FROM   pings;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* pingsq.Peek */
       id, at
FROM   pings NOT INDEXED
WHERE  at <= unixepoch()
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pingsq.Verify */
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
WITH /* pingsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('at', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('pings') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
