-- Package probesq uses the table probes as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (lost_probes)
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> (lost_probes), when recover_if holds
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until recover_if holds for them; then Recover lets them fail.
--
-- Besides the queue's own rows it writes lost_probes (Fail, Recover); losses (Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates probes_ready and probes_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
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
-- note: column "id" of lost_probes gets the key of the row (columns: same), and numbers rows by itself as well: where another row has that number, the move fails; name the columns in the place of same, without this one, to have it numbered anew
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "begun", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE busy = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* probesq.Claim */ probes
SET    busy = 1,
       begun = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   probes
           WHERE  busy = 0
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, begun, seen, attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE busy = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* probesq.Claim */ probes
SET    busy = 1,
       begun = unixepoch()
WHERE  id = (
           SELECT id
           FROM   probes
           WHERE  busy = 0
           ORDER  BY id
           LIMIT  1)
RETURNING id, begun, seen, attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
DELETE /* probesq.Complete */ FROM probes
WHERE  (id, begun) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1))
AND    +(busy = 1)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* probesq.Fail */ probes
SET    busy = 0,
       begun = NULL,
       attempts = attempts + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    busy = 1)
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
SELECT /* probesq.Fail */
       id
FROM   probes
WHERE  (id, begun) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1))
AND    +(busy = 1);

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to lost_probes before fail.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Begun
INSERT /* probesq.Fail */ INTO lost_probes
       (id, attempts)
SELECT held.id, held.attempts + 1
FROM   probes AS held
WHERE  (held.id, held.begun) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1));

-- sql/fail.sql
-- fail: running to failed
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
DELETE /* probesq.Fail */ FROM probes
WHERE  (id, begun) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1))
AND    +(busy = 1)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: begun as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Begun
UPDATE /* probesq.Requeue */ probes
SET    busy = 0,
       begun = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS begun_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(begun = begun_held
      AND    busy = 1)
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE busy = 1; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* probesq.Recover */
       id
FROM   probes
WHERE  busy = 1
AND    (coalesce(seen, 0) < unixepoch() - 60)
LIMIT  ?1;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to lost_probes before recover_failed.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* probesq.Recover */ INTO lost_probes
       (id, attempts)
SELECT held.id, held.attempts + 1
FROM   probes AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover_failed_insert_losses.sql
-- recover_failed: inserts rows into losses for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* probesq.Recover */ INTO losses
       (probe, why)
SELECT held.id, 'the claim ran out'
FROM   probes AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* probesq.Recover */ FROM probes
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(busy = 1)
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* probesq.Reserve */ FROM probes
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Seen
INSERT /* probesq.Enqueue */ INTO probes
       (seen)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Seen
INSERT /* probesq.EnqueueMany */ INTO probes
       (seen)
SELECT seen_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS seen_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* probesq.Stats */
       count(*) FILTER (WHERE busy = 0) AS ready,
       count(*) FILTER (WHERE busy = 1) AS running,
       count(*) FILTER (WHERE busy = 1 AND (coalesce(seen, 0) < unixepoch() - 60)) AS expired,
       (unixepoch() - min(begun) FILTER (WHERE busy = 1)) AS oldest_running
FROM   probes;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE busy = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* probesq.Peek */
       id, seen, attempts
FROM   probes
WHERE  busy = 0
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* probesq.Verify */
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
WITH /* probesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('busy', 'INTEGER'),
           ('begun', 'INTEGER'),
           ('seen', 'INTEGER'),
           ('attempts', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('probes') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of lost_probes
-- locks: none
WITH /* probesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('attempts', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('lost_probes') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also2.sql
-- verify: columns of losses
-- locks: none
WITH /* probesq.Verify */ want (name, type) AS (
    VALUES ('probe', 'INTEGER'),
           ('why', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('losses') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* probesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('probes_ready', 'id', 'id', 'busy=0'),
           ('probes_expired', 'id', 'id', 'busy=1')
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
    FROM   pragma_index_list('probes') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX probes_ready ON probes (id)
WHERE  busy = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: rows that somebody has
CREATE INDEX probes_expired ON probes (id)
WHERE  busy = 1;
