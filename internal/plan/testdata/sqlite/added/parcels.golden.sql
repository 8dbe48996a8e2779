-- Package parcelsq uses the table parcels as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes journal (Enqueue, Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parcels_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, depot, code
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (depot, code) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* parcelsq.Claim */ parcels
SET    state = 'busy'
WHERE  rowid IN (
           SELECT rowid
           FROM   parcels
           WHERE  state = 'new'
           ORDER  BY depot, code
           LIMIT  ?1)
RETURNING depot, code;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (depot, code) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* parcelsq.Claim */ parcels
SET    state = 'busy'
WHERE  rowid = (
           SELECT rowid
           FROM   parcels
           WHERE  state = 'new'
           ORDER  BY depot, code
           LIMIT  1)
RETURNING depot, code;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Depot Code
UPDATE /* parcelsq.Complete */ parcels
SET    state = 'sent'
FROM   (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS code_held
           FROM   json_each(?1)
       ) AS job
WHERE  depot = depot_held
AND    code = code_held
AND    +(state = 'busy')
RETURNING depot, code;

-- sql/retry.sql
-- retry: running to ready
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Depot Code
UPDATE /* parcelsq.Fail */ parcels
SET    state = 'new'
FROM   (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS code_held
           FROM   json_each(?1)
       ) AS job
WHERE  depot = depot_held
AND    code = code_held
AND    +(state = 'busy')
RETURNING depot, code;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Depot Code
UPDATE /* parcelsq.Requeue */ parcels
SET    state = 'new'
FROM   (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS code_held
           FROM   json_each(?1)
       ) AS job
WHERE  depot = depot_held
AND    code = code_held
AND    +(state = 'busy')
RETURNING depot, code;

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (depot, code) WHERE state = 'sent' would find them
-- arguments: 1: limit
SELECT /* parcelsq.Purge */
       depot, code
FROM   parcels
WHERE  state = 'sent'
LIMIT  ?1;

-- sql/purge_done_delete_journal.sql
-- purge_done: deletes rows from journal for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of journal one that begins with what, id
-- arguments: 1: batch_all Depot Code
DELETE /* parcelsq.Purge */ FROM journal
WHERE  (what, id) IN (
SELECT held.code, held.depot
FROM   parcels AS held
WHERE  (held.depot, held.code) IN (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS code_held
           FROM   json_each(?1)));

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Depot Code
DELETE /* parcelsq.Purge */ FROM parcels
WHERE  (depot, code) IN (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS code_held
           FROM   json_each(?1))
AND    +(state = 'sent')
RETURNING depot, code;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* parcelsq.Reserve */ FROM parcels
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Depot, 2: new Code
INSERT /* parcelsq.Enqueue */ INTO parcels
       (depot, code)
VALUES (?1, ?2)
RETURNING depot, code;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Depot Code
INSERT /* parcelsq.EnqueueMany */ INTO parcels
       (depot, code)
SELECT depot_new, code_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS depot_new,
                  json_extract(value, '$[1]') AS code_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING depot, code;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all Depot Code
INSERT /* parcelsq.Enqueue */ INTO journal
       (what, id, address)
SELECT held.code, held.depot, held.state
FROM   parcels AS held
WHERE  (held.depot, held.code) IN (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS code_held
           FROM   json_each(?1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* parcelsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done
FROM   parcels;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (depot, code) WHERE state = 'new'
SELECT /* parcelsq.Backlog */
       count(*) AS ready
FROM   parcels
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (depot, code) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* parcelsq.Peek */
       depot, code
FROM   parcels
WHERE  state = 'new'
ORDER  BY depot, code
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* parcelsq.Verify */
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
WITH /* parcelsq.Verify */ want (name, type) AS (
    VALUES ('depot', 'INTEGER'),
           ('code', 'TEXT'),
           ('state', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('parcels') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
WITH /* parcelsq.Verify */ want (name, type) AS (
    VALUES ('what', 'TEXT'),
           ('id', 'INTEGER'),
           ('address', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('journal') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* parcelsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('parcels_ready', 'depot, code', 'depot, code', 'state=''new''')
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
    FROM   pragma_index_list('parcels') AS l
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
CREATE INDEX parcels_ready ON parcels (depot, code)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
