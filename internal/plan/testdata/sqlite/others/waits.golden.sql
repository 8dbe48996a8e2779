-- Package waitsq uses the table waits as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates waits_ready and waits_others.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, site, no
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (site, "no") WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: limit
UPDATE /* waitsq.Claim */ waits
SET    state = 'busy',
       token = ?1
WHERE  rowid IN (
           SELECT rowid
           FROM   waits
           WHERE  state = 'new'
           ORDER  BY site, "no"
           LIMIT  ?2)
RETURNING site, "no", "after", tries, token;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (site, "no") WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token
UPDATE /* waitsq.Claim */ waits
SET    state = 'busy',
       token = ?1
WHERE  rowid = (
           SELECT rowid
           FROM   waits
           WHERE  state = 'new'
           ORDER  BY site, "no"
           LIMIT  1)
RETURNING site, "no", "after", tries, token;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Site No Token
SELECT /* waitsq.Complete */
       site, "no"
FROM   waits
WHERE  (site, "no", token) IN (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/complete_update_waits.sql
-- complete: updates rows of waits for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows (site, "after")
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Complete */ waits
SET    state = 'new'
FROM   waits AS held
WHERE  (held.site, held."no", held.token) IN (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1))
AND    waits.site = held.site
AND    waits."after" = held."no"
AND    waits.state = 'waiting'
AND    NOT EXISTS (SELECT 1 FROM (SELECT json_extract(value, '$[0]') AS site_held, json_extract(value, '$[1]') AS no_held, json_extract(value, '$[2]') AS token_held FROM json_each(?1)) AS job WHERE waits.site = site_held AND waits."no" = no_held);

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Site No Token
DELETE /* waitsq.Complete */ FROM waits
WHERE  (site, "no", token) IN (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy')
RETURNING site, "no";

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'new',
       tries = tries + 1,
       token = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  site = site_held
AND    "no" = no_held
AND    +(token = token_held
      AND    state = 'busy')
RETURNING site, "no";

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Site No Token
SELECT /* waitsq.Fail */
       site, "no"
FROM   waits
WHERE  (site, "no", token) IN (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/fail_update_waits.sql
-- fail: updates rows of waits for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows (site, "after")
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'failed'
FROM   waits AS held
WHERE  (held.site, held."no", held.token) IN (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1))
AND    waits.site = held.site
AND    waits."after" = held."no"
AND    waits.state IN ('waiting', 'new')
AND    NOT EXISTS (SELECT 1 FROM (SELECT json_extract(value, '$[0]') AS site_held, json_extract(value, '$[1]') AS no_held, json_extract(value, '$[2]') AS token_held FROM json_each(?1)) AS job WHERE waits.site = site_held AND waits."no" = no_held);

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Fail */ waits
SET    state = 'failed',
       tries = tries + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  site = site_held
AND    "no" = no_held
AND    +(token = token_held
      AND    state = 'busy')
RETURNING site, "no";

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Site No Token
UPDATE /* waitsq.Requeue */ waits
SET    state = 'new',
       token = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS site_held,
                  json_extract(value, '$[1]') AS no_held,
                  json_extract(value, '$[2]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  site = site_held
AND    "no" = no_held
AND    +(token = token_held
      AND    state = 'busy')
RETURNING site, "no";

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* waitsq.Redrive */ waits
SET    state = 'new',
       tries = 0,
       token = NULL
WHERE  rowid IN (
           SELECT rowid
           FROM   waits
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (site, "no") WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* waitsq.Purge */ FROM waits
WHERE  rowid IN (
           SELECT rowid
           FROM   waits
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* waitsq.Reserve */ FROM waits
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Site, 2: new No, 3: new After
INSERT /* waitsq.Enqueue */ INTO waits
       (site, "no", "after", state)
VALUES (?1, ?2, ?3, 'new')
RETURNING site, "no";

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Site No After
INSERT /* waitsq.EnqueueMany */ INTO waits
       (site, "no", "after", state)
SELECT site_new, no_new, after_new, 'new'
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS site_new,
                  json_extract(value, '$[1]') AS no_new,
                  json_extract(value, '$[2]') AS after_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING site, "no";

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'failed') AS failed
FROM   waits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (site, "no") WHERE state = 'new'
SELECT /* waitsq.Backlog */
       count(*) AS ready
FROM   waits
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (site, "no") WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       site, "no", "after", tries
FROM   waits
WHERE  state = 'new'
ORDER  BY site, "no"
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
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
WITH /* waitsq.Verify */ want (name, type) AS (
    VALUES ('site', 'text'),
           ('no', 'int'),
           ('after', 'int'),
           ('state', 'text'),
           ('tries', 'int'),
           ('token', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('waits') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* waitsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('waits_ready', 'site, no', 'site, no', 'state=''new'''),
           ('waits_others', 'site, after', 'site, after', '')
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
    FROM   pragma_index_list('waits') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX waits_ready ON waits (site, "no")
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- finds the rows of other jobs that a step writes; the primary key (site, "no") leads to these rows among others: where those are few, decline this one (indexes: {others: false})
CREATE INDEX waits_others ON waits (site, "after");
