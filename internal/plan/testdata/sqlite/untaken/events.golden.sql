-- Package eventsq uses the table events as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready and events_expired.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "holder" does: a row is ready only while holder = '', and not where something else has left a value there
-- note: the fence compares column "held_at", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder, 2: limit
UPDATE /* eventsq.Claim */ events
SET    holder = ?1,
       held_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   events
           WHERE  state = 'waiting'
           AND    holder = ''
           ORDER  BY rank, id
           LIMIT  ?2)
RETURNING id, rank, holder, held_at;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the database for writing, while the statement runs
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder
UPDATE /* eventsq.Claim */ events
SET    holder = ?1,
       held_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   events
           WHERE  state = 'waiting'
           AND    holder = ''
           ORDER  BY rank, id
           LIMIT  1)
RETURNING id, rank, holder, held_at;

-- sql/start.sql
-- start: claimed to running
-- fence: held_at, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Start */ events
SET    state = 'busy'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_at_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_at = held_at_held
      AND    holder = holder_held
      AND    state = 'waiting'
      AND    holder <> '')
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: held_at, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Complete */ events
SET    state = 'complete'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_at_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_at = held_at_held
      AND    holder = holder_held
      AND    state IN ('waiting', 'busy')
      AND    holder <> '')
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: held_at, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Fail */ events
SET    state = 'failed'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_at_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_at = held_at_held
      AND    holder = holder_held
      AND    state IN ('waiting', 'busy')
      AND    holder <> '')
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: held_at, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Requeue */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_at_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_at = held_at_held
      AND    holder = holder_held
      AND    state IN ('waiting', 'busy')
      AND    holder <> '')
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: held_at, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID HeldAt Holder
UPDATE /* eventsq.Extend */ events
SET    held_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS held_at_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(held_at = held_at_held
      AND    holder = holder_held
      AND    state IN ('waiting', 'busy')
      AND    holder <> '')
RETURNING id, held_at;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (held_at) WHERE state IN ('waiting', 'busy') AND holder <> ''; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
WHERE  id IN (
           SELECT id
           FROM   events
           WHERE  state IN ('waiting', 'busy')
           AND    holder <> ''
           AND    held_at <= unixepoch() - 300
           AND    held_at > 0
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* eventsq.Redrive */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
WHERE  id IN (
           SELECT id
           FROM   events
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'complete' would find them
-- arguments: 1: older, 2: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  id IN (
           SELECT id
           FROM   events
           WHERE  state = 'complete'
           AND    held_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'failed' would find them
-- arguments: 1: older, 2: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  id IN (
           SELECT id
           FROM   events
           WHERE  state = 'failed'
           AND    held_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Rank
INSERT /* eventsq.Enqueue */ INTO events
       (rank, state, holder)
VALUES (?1, 'waiting', '')
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Rank
INSERT /* eventsq.EnqueueMany */ INTO events
       (rank, state, holder)
SELECT rank_new, 'waiting', ''
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS rank_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(*) FILTER (WHERE state = 'waiting' AND holder = '') AS ready,
       count(*) FILTER (WHERE state = 'waiting' AND holder <> '') AS claimed,
       count(*) FILTER (WHERE state = 'busy' AND holder <> '') AS running,
       count(*) FILTER (WHERE state = 'complete') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('waiting', 'busy') AND holder <> '' AND held_at <= unixepoch() - 300 AND held_at > 0) AS expired,
       (unixepoch() - min(held_at) FILTER (WHERE state IN ('waiting', 'busy') AND holder <> '')) AS oldest_running
FROM   events;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''
SELECT /* eventsq.Backlog */
       count(*) AS ready
FROM   events
WHERE  state = 'waiting'
AND    holder = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (rank, id) WHERE state = 'waiting' AND holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       id, rank, holder, held_at
FROM   events
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY rank, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
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
WITH /* eventsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('rank', 'INTEGER'),
           ('state', 'TEXT'),
           ('holder', 'TEXT'),
           ('held_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('events') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* eventsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('events_ready', 'rank, id', 'rank', 'state=''waiting''andholder='''''),
           ('events_expired', 'held_at', 'held_at', 'statein''waiting'',''busy''andholder<>''''')
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
    FROM   pragma_index_list('events') AS l
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
CREATE INDEX events_ready ON events (rank, id)
WHERE  state = 'waiting'
AND    holder = '';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX events_expired ON events (held_at)
WHERE  state IN ('waiting', 'busy')
AND    holder <> '';
