-- Package callsq uses the table calls as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written
-- note: no column says when a claim in column "begun" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: column "begun" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (timeout, id) WHERE state IN ('N', 'A'); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: timeout, 2: param timeoutValue string, 3: limit
SELECT /* callsq.Claim */
       id, timeout
FROM   calls
WHERE  state IN ('N', 'A')
AND    (begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR state = 'N')
AND    timeout = ?2
ORDER  BY id
LIMIT  ?3;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID, 2: timeout, 3: param timeoutValue string
UPDATE /* callsq.Claim */ calls
SET    state = 'A',
       begun = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state IN ('N', 'A')
      AND    (begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?2 * 1000 AS INTEGER) OR state = 'N')
      AND    timeout = ?3)
RETURNING id, timeout, begun;

-- sql/complete.sql
-- complete: running to done
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* callsq.Complete */ calls
SET    state = 'D'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* callsq.Fail */ calls
SET    state = 'F'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* callsq.Requeue */ calls
SET    state = 'N',
       begun = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* callsq.Extend */ calls
SET    begun = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    state = 'A')
RETURNING id, begun;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* callsq.Redrive */ calls
SET    state = 'N',
       begun = NULL
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  state = 'F'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (begun) WHERE state = 'D' would find them
-- arguments: 1: older, 2: limit
DELETE /* callsq.Purge */ FROM calls
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  state = 'D'
           AND    begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (begun) WHERE state = 'F' would find them
-- arguments: 1: older, 2: limit
DELETE /* callsq.Purge */ FROM calls
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  state = 'F'
           AND    begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Timeout
INSERT /* callsq.Enqueue */ INTO calls
       (timeout)
VALUES (coalesce(?1, ''))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Timeout
INSERT /* callsq.EnqueueMany */ INTO calls
       (timeout)
SELECT coalesce(timeout_new, '')
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS timeout_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* callsq.Stats */
       count(*) FILTER (WHERE state IN ('N', 'A') AND (begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR state = 'N')) AS ready,
       count(*) FILTER (WHERE state = 'A' AND begun > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'A' AND begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(begun) FILTER (WHERE state = 'A' AND begun > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER))) / 1000.0) AS oldest_running
FROM   calls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same timeout is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout, 2: param timeoutValue string
SELECT /* callsq.StatsOf */
       count(*) FILTER (WHERE state IN ('N', 'A') AND (begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR state = 'N')) AS ready,
       count(*) FILTER (WHERE state = 'A' AND begun > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed,
       count(*) FILTER (WHERE state = 'A' AND begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(begun) FILTER (WHERE state = 'A' AND begun > CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER))) / 1000.0) AS oldest_running
FROM   calls
WHERE  timeout = ?2;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by timeout
-- locks: none
-- index: (timeout, id) WHERE state IN ('N', 'A'); it reads others as well
-- arguments: 1: timeout
SELECT /* callsq.Backlog */
       timeout,
       count(*) AS ready
FROM   calls
WHERE  state IN ('N', 'A')
AND    (begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR state = 'N')
GROUP  BY timeout
ORDER  BY timeout;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (timeout, id) WHERE state IN ('N', 'A'); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: timeout, 2: param timeoutValue string, 3: limit
SELECT /* callsq.Peek */
       id, timeout
FROM   calls
WHERE  state IN ('N', 'A')
AND    (begun <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER) OR state = 'N')
AND    timeout = ?2
ORDER  BY id
LIMIT  ?3;

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
           ('timeout', 'TEXT'),
           ('state', 'TEXT'),
           ('begun', 'INTEGER')
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* callsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('calls_ready', 'timeout, id', 'timeout', 'statein''n'',''a''')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('calls') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX calls_ready ON calls (timeout, id)
WHERE  state IN ('N', 'A');
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
