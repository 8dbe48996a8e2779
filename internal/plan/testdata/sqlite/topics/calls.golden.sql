-- Package callsq uses the table calls as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: a row whose column "at" is null is taken only by a claim for every topic; any=null lets it suit everyone
-- note: rows are taken as they came, by column "id"; order 1 at column "due" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: param id *int64, 2: param ready string, 3: param numberPrefix string, 4: param maxCost int64, 5: param atValue *time.Time, 6: param readyValue *string, 7: param readyRows *string, 8: limit
UPDATE /* callsq.Claim */ calls
SET    till = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  (till <= unixepoch() OR till IS NULL)
           AND    (due <= unixepoch() OR due IS NULL)
           AND    (?1 IS NULL OR id = ?1)
           AND    (ready = ?2 OR ready IS NULL)
           AND    substr(number, 1, length(?3)) = ?3
           AND    cost <= ?4
           AND    (?5 IS NULL OR at = ?5)
           AND    (?6 IS NULL OR ready_value = ?6)
           AND    (?7 IS NULL OR ready_rows = ?7)
           ORDER  BY id
           LIMIT  ?8)
RETURNING id, ready, number, cost, at, ready_value, ready_rows, made, due, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: param id *int64, 2: param ready string, 3: param numberPrefix string, 4: param maxCost int64, 5: param atValue *time.Time, 6: param readyValue *string, 7: param readyRows *string
UPDATE /* callsq.Claim */ calls
SET    till = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   calls
           WHERE  (till <= unixepoch() OR till IS NULL)
           AND    (due <= unixepoch() OR due IS NULL)
           AND    (?1 IS NULL OR id = ?1)
           AND    (ready = ?2 OR ready IS NULL)
           AND    substr(number, 1, length(?3)) = ?3
           AND    cost <= ?4
           AND    (?5 IS NULL OR at = ?5)
           AND    (?6 IS NULL OR ready_value = ?6)
           AND    (?7 IS NULL OR ready_rows = ?7)
           ORDER  BY id
           LIMIT  1)
RETURNING id, ready, number, cost, at, ready_value, ready_rows, made, due, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* callsq.Complete */ FROM calls
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(till IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* callsq.Fail */ calls
SET    due = CAST(unixepoch() + ?1 AS INTEGER),
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Till
UPDATE /* callsq.Requeue */ calls
SET    due = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE due END,
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* callsq.Extend */ calls
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING id, till;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Ready, 2: new Number, 3: new Cost, 4: new At, 5: new ReadyValue, 6: new ReadyRows, 7: new Due
INSERT /* callsq.Enqueue */ INTO calls
       (ready, number, cost, at, ready_value, ready_rows, made, due)
VALUES (?1, ?2, ?3, ?4, coalesce(?5, ''), coalesce(?6, ''), unixepoch(), ?7)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Ready Number Cost At ReadyValue ReadyRows Due
INSERT /* callsq.EnqueueMany */ INTO calls
       (ready, number, cost, at, ready_value, ready_rows, made, due)
SELECT ready_new, number_new, cost_new, at_new, coalesce(ready_value_new, ''),
       coalesce(ready_rows_new, ''), unixepoch(), due_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS ready_new,
                  json_extract(value, '$[1]') AS number_new,
                  json_extract(value, '$[2]') AS cost_new,
                  json_extract(value, '$[3]') AS at_new,
                  json_extract(value, '$[4]') AS ready_value_new,
                  json_extract(value, '$[5]') AS ready_rows_new,
                  json_extract(value, '$[6]') AS due_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
       count(*) FILTER (WHERE (till <= unixepoch() OR till IS NULL) AND (due <= unixepoch() OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > unixepoch()) AS running,
       count(*) FILTER (WHERE due > unixepoch()) AS delayed,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= unixepoch()) AS expired,
       (unixepoch() - min(made) FILTER (WHERE (till <= unixepoch() OR till IS NULL) AND (due <= unixepoch() OR due IS NULL))) AS oldest_ready
FROM   calls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same id, ready, number, cost, at, ready_value and ready_rows is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param id *int64, 2: param ready string, 3: param numberPrefix string, 4: param maxCost int64, 5: param atValue *time.Time, 6: param readyValue *string, 7: param readyRows *string
SELECT /* callsq.StatsOf */
       count(*) FILTER (WHERE (till <= unixepoch() OR till IS NULL) AND (due <= unixepoch() OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > unixepoch()) AS running,
       count(*) FILTER (WHERE due > unixepoch()) AS delayed,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= unixepoch()) AS expired,
       (unixepoch() - min(made) FILTER (WHERE (till <= unixepoch() OR till IS NULL) AND (due <= unixepoch() OR due IS NULL))) AS oldest_ready
FROM   calls
WHERE  (?1 IS NULL OR id = ?1)
AND    (ready = ?2 OR ready IS NULL)
AND    substr(number, 1, length(?3)) = ?3
AND    cost <= ?4
AND    (?5 IS NULL OR at = ?5)
AND    (?6 IS NULL OR ready_value = ?6)
AND    (?7 IS NULL OR ready_rows = ?7);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by ready, at, ready_value and ready_rows
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Backlog */
       ready,
       at,
       ready_value,
       ready_rows,
       count(*) FILTER (WHERE (till <= unixepoch() OR till IS NULL) AND (due <= unixepoch() OR due IS NULL)) AS ready_rows_rows,
       count(*) FILTER (WHERE due > unixepoch()) AS delayed,
       (unixepoch() - min(made) FILTER (WHERE (till <= unixepoch() OR till IS NULL) AND (due <= unixepoch() OR due IS NULL))) AS oldest_ready
FROM   calls
GROUP  BY ready, at, ready_value, ready_rows
HAVING count(*) FILTER (WHERE (till <= unixepoch() OR till IS NULL) AND (due <= unixepoch() OR due IS NULL)) > 0
OR     count(*) FILTER (WHERE due > unixepoch()) > 0
ORDER  BY ready, at, ready_value, ready_rows;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id *int64, 2: param ready string, 3: param numberPrefix string, 4: param maxCost int64, 5: param atValue *time.Time, 6: param readyValue *string, 7: param readyRows *string, 8: limit
SELECT /* callsq.Peek */
       id, ready, number, cost, at, ready_value, ready_rows, made, due
FROM   calls
WHERE  (till <= unixepoch() OR till IS NULL)
AND    (due <= unixepoch() OR due IS NULL)
AND    (?1 IS NULL OR id = ?1)
AND    (ready = ?2 OR ready IS NULL)
AND    substr(number, 1, length(?3)) = ?3
AND    cost <= ?4
AND    (?5 IS NULL OR at = ?5)
AND    (?6 IS NULL OR ready_value = ?6)
AND    (?7 IS NULL OR ready_rows = ?7)
ORDER  BY id
LIMIT  ?8;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
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
WITH /* callsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('ready', 'TEXT'),
           ('number', 'TEXT'),
           ('cost', 'INTEGER'),
           ('at', 'TEXT'),
           ('ready_value', 'TEXT'),
           ('ready_rows', 'TEXT'),
           ('made', 'INTEGER'),
           ('due', 'INTEGER'),
           ('till', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('calls') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
