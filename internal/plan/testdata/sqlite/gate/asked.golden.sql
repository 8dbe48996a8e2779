-- Package askedq uses the table exports as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of all jobs of the queue, at most 2 run at once; a claim locks the database for writing, then counts what is running. When as many run as may, Claim returns no jobs.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates exports_settled_ready and exports_settled_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim_room.sql
-- claim: how many more rows may run
-- locks: none
-- index: (taken_at) WHERE state = 'busy'
SELECT /* askedq.Claim */
       2 - (
           SELECT count(*)
           FROM   exports
           WHERE  state = 'busy'
       );

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* askedq.Claim */
       id, site_id, tries
FROM   exports
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?1;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* askedq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_picked,
                  json_extract(value, '$[1]') AS tries_picked
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_picked
AND    +(tries = tries_picked
      AND    state = 'new')
RETURNING id, site_id, tries, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* askedq.Complete */ exports
SET    state = 'over'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* askedq.Fail */ exports
SET    state = 'new',
       taken_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* askedq.Fail */ exports
SET    state = 'dead'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* askedq.Requeue */ exports
SET    state = 'new',
       tries = tries - 1,
       taken_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* askedq.Extend */ exports
SET    taken_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'busy')
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (taken_at) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* askedq.Recover */ exports
SET    state = 'new',
       taken_at = NULL
WHERE  id IN (
           SELECT id
           FROM   exports
           WHERE  state = 'busy'
           AND    tries < 3
           AND    taken_at <= unixepoch() - 600
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (taken_at) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* askedq.Recover */ exports
SET    state = 'dead'
WHERE  id IN (
           SELECT id
           FROM   exports
           WHERE  state = 'busy'
           AND    tries >= 3
           AND    taken_at <= unixepoch() - 600
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* askedq.Redrive */ exports
SET    state = 'new',
       tries = 0,
       taken_at = NULL
WHERE  id IN (
           SELECT id
           FROM   exports
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'over' would find them
-- arguments: 1: older, 2: limit
DELETE /* askedq.Purge */ FROM exports
WHERE  id IN (
           SELECT id
           FROM   exports
           WHERE  state = 'over'
           AND    taken_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'dead' would find them
-- arguments: 1: older, 2: limit
DELETE /* askedq.Purge */ FROM exports
WHERE  id IN (
           SELECT id
           FROM   exports
           WHERE  state = 'dead'
           AND    taken_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* askedq.Reserve */ FROM exports
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new SiteID
INSERT /* askedq.Enqueue */ INTO exports
       (site_id)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all SiteID
INSERT /* askedq.EnqueueMany */ INTO exports
       (site_id)
SELECT site_id_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS site_id_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND taken_at <= unixepoch() - 600) AS expired,
       (unixepoch() - min(taken_at) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   exports;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* askedq.Backlog */
       count(*) AS ready
FROM   exports
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* askedq.Peek */
       id, site_id, tries
FROM   exports
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
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
WITH /* askedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('site_id', 'INTEGER'),
           ('state', 'TEXT'),
           ('tries', 'INTEGER'),
           ('taken_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('exports') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* askedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('exports_settled_ready', 'id', 'id', 'state=''new'''),
           ('exports_settled_expired', 'taken_at', 'taken_at', 'state=''busy''')
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
    FROM   pragma_index_list('exports') AS l
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
-- settledq advises the same
CREATE INDEX exports_settled_ready ON exports (id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out; it also serves Claim: counts the running rows
-- settledq advises the same
CREATE INDEX exports_settled_expired ON exports (taken_at)
WHERE  state = 'busy';
