-- Package triesq uses the table tries as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Drop------------> (deleted)
-- 	running  --Skip------------> failed
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- Besides the queue's own rows it writes tries (Fail, Recover, Drop, Skip), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tries_ready and tries_expired.
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
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: also: drop adds a row to tries that may have the values of the job's in the unique index tries_uniq, and the step then fails each time: it is added while the row of the job, which the step takes away, is there still
-- note: warning: also: skip adds a row to tries that may have the values of the job's in the unique index tries_uniq, and the step then fails each time: it is added before the step takes the row of the job out of it, because an entry takes from that row what the step changes: leave such values out
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* triesq.Claim */ tries
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   tries
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, attempt, uniq, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* triesq.Claim */ tries
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   tries
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  1)
RETURNING id, attempt, uniq, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* triesq.Complete */ tries
SET    state = 'done',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
SELECT /* triesq.Fail */
       id
FROM   tries
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* triesq.Fail */ tries
SET    state = 'failed',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail_insert_tries.sql
-- fail: inserts rows into tries for the rows that fail_lock.sql locked, behind fail.sql, which may take these out of the unique index tries_uniq
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* triesq.Fail */ INTO tries
       (attempt, uniq)
SELECT (held.attempt + 1), held.uniq
FROM   tries AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((held.attempt < 5));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* triesq.Requeue */ tries
SET    state = 'new',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* triesq.Extend */ tries
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id, till;

-- sql/outcome_drop_lock.sql
-- outcome_drop: locks the rows of jobs whose claims are still theirs, which outcome_drop.sql then writes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
SELECT /* triesq.Drop */
       id
FROM   tries
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/outcome_drop_insert_tries.sql
-- outcome_drop: inserts rows into tries for the rows that outcome_drop_lock.sql locked, before outcome_drop.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Till
INSERT /* triesq.Drop */ INTO tries
       (uniq)
SELECT held.uniq
FROM   tries AS held
WHERE  (held.id, held.till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1));

-- sql/outcome_drop.sql
-- outcome_drop: running to deleted
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* triesq.Drop */ FROM tries
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/outcome_skip_lock.sql
-- outcome_skip: locks the rows of jobs whose claims are still theirs, which outcome_skip.sql then writes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
SELECT /* triesq.Skip */
       id
FROM   tries
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/outcome_skip_insert_tries.sql
-- outcome_skip: inserts rows into tries for the rows that outcome_skip_lock.sql locked, before outcome_skip.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Till
INSERT /* triesq.Skip */ INTO tries
       (uniq)
SELECT held.uniq
FROM   tries AS held
WHERE  (held.id, held.till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
AND    +((held.state = 'busy'));

-- sql/outcome_skip.sql
-- outcome_skip: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* triesq.Skip */ tries
SET    state = 'failed',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (till) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* triesq.Recover */
       id
FROM   tries
WHERE  state = 'busy'
AND    till <= unixepoch()
LIMIT  ?1;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* triesq.Recover */ tries
SET    state = 'failed',
       till = NULL
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/recover_failed_insert_tries.sql
-- recover_failed: inserts rows into tries for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which may take these out of the unique index tries_uniq
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* triesq.Recover */ INTO tries
       (attempt, uniq)
SELECT (held.attempt + 1), held.uniq
FROM   tries AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((held.attempt < 5));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* triesq.Redrive */ tries
SET    state = 'new',
       till = NULL
WHERE  id IN (
           SELECT id
           FROM   tries
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- arguments: 1: limit
DELETE /* triesq.Purge */ FROM tries
WHERE  id IN (
           SELECT id
           FROM   tries
           WHERE  state = 'done'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* triesq.Purge */ FROM tries
WHERE  id IN (
           SELECT id
           FROM   tries
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* triesq.Reserve */ FROM tries
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Attempt, 2: new Uniq
INSERT /* triesq.Enqueue */ INTO tries
       (attempt, uniq)
VALUES (coalesce(?1, 1), ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Attempt Uniq
INSERT /* triesq.EnqueueMany */ INTO tries
       (attempt, uniq)
SELECT coalesce(attempt_new, 1), uniq_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS attempt_new,
                  json_extract(value, '$[1]') AS uniq_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* triesq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND till <= unixepoch()) AS expired
FROM   tries;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* triesq.Backlog */
       count(*) AS ready
FROM   tries
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* triesq.Peek */
       id, attempt, uniq
FROM   tries
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* triesq.Verify */
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
WITH /* triesq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('state', 'text'),
           ('attempt', 'int'),
           ('uniq', 'text'),
           ('till', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tries') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* triesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('tries_ready', 'id', 'id', 'state=''new'''),
           ('tries_expired', 'till', 'till', 'state=''busy''')
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
    FROM   pragma_index_list('tries') AS l
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
CREATE INDEX tries_ready ON tries (id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX tries_expired ON tries (till)
WHERE  state = 'busy';
