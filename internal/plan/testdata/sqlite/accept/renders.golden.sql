-- Package rendersq uses the table renders as a queue of jobs on SQLite 3.38 and later.
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
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates renders_ready and renders_expired.
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

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (site, urgency DESC, id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Claim */
       id, site, scene, memory_mb, urgency, tries
FROM   renders
WHERE  state = 'N'
AND    site = ?1
ORDER  BY urgency DESC, id
LIMIT  ?2;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: worker Node, 2: batch_all ID Tries, 3: param site string
UPDATE /* rendersq.Claim */ renders
SET    state = 'A',
       tries = tries + 1,
       until_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds'),
       node = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_picked,
                  json_extract(value, '$[1]') AS tries_picked
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_picked
AND    +(tries = tries_picked
      AND    state = 'N'
      AND    site = ?3)
RETURNING id, site, scene, memory_mb, urgency, tries, until_at, node;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Node
UPDATE /* rendersq.Complete */ renders
SET    state = 'D',
       until_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    node = node_held
      AND    state = 'A')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Node
UPDATE /* rendersq.Fail */ renders
SET    state = 'N',
       until_at = NULL,
       node = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    node = node_held
      AND    state = 'A')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Node
UPDATE /* rendersq.Fail */ renders
SET    state = 'E',
       until_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    node = node_held
      AND    state = 'A')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Node
UPDATE /* rendersq.Requeue */ renders
SET    state = 'N',
       tries = tries - 1,
       until_at = NULL,
       node = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    node = node_held
      AND    state = 'A')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries, node as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Node
UPDATE /* rendersq.Extend */ renders
SET    until_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+300 seconds')
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS node_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    node = node_held
      AND    state = 'A')
RETURNING id, until_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (until_at) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ renders
SET    state = 'N',
       until_at = NULL,
       node = NULL
WHERE  id IN (
           SELECT id
           FROM   renders
           WHERE  state = 'A'
           AND    tries < 5
           AND    until_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (until_at) WHERE state = 'A'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ renders
SET    state = 'E',
       until_at = NULL
WHERE  id IN (
           SELECT id
           FROM   renders
           WHERE  state = 'A'
           AND    tries >= 5
           AND    until_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* rendersq.Redrive */ renders
SET    state = 'N',
       tries = 0,
       until_at = NULL,
       node = NULL
WHERE  id IN (
           SELECT id
           FROM   renders
           WHERE  state = 'E'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- arguments: 1: limit
DELETE /* rendersq.Purge */ FROM renders
WHERE  id IN (
           SELECT id
           FROM   renders
           WHERE  state = 'D'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'E' would find them
-- arguments: 1: limit
DELETE /* rendersq.Purge */ FROM renders
WHERE  id IN (
           SELECT id
           FROM   renders
           WHERE  state = 'E'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Site, 2: new Scene, 3: new MemoryMb, 4: new Urgency
INSERT /* rendersq.Enqueue */ INTO renders
       (site, scene, memory_mb, urgency)
VALUES (?1, ?2, ?3, coalesce(?4, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Site Scene MemoryMb Urgency
INSERT /* rendersq.EnqueueMany */ INTO renders
       (site, scene, memory_mb, urgency)
SELECT site_new, scene_new, memory_mb_new, coalesce(urgency_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS site_new,
                  json_extract(value, '$[1]') AS scene_new,
                  json_extract(value, '$[2]') AS memory_mb_new,
                  json_extract(value, '$[3]') AS urgency_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* rendersq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'A' AND until_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS expired
FROM   renders;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same site is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param site string
SELECT /* rendersq.StatsOf */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'A' AND until_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS expired
FROM   renders
WHERE  site = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by site
-- locks: none
-- index: (site, urgency DESC, id) WHERE state = 'N'
SELECT /* rendersq.Backlog */
       site,
       count(*) AS ready
FROM   renders
WHERE  state = 'N'
GROUP  BY site
ORDER  BY site;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (site, urgency DESC, id) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Peek */
       id, site, scene, memory_mb, urgency, tries
FROM   renders
WHERE  state = 'N'
AND    site = ?1
ORDER  BY urgency DESC, id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* rendersq.Verify */
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
WITH /* rendersq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('site', 'TEXT'),
           ('scene', 'TEXT'),
           ('memory_mb', 'INTEGER'),
           ('urgency', 'INTEGER'),
           ('state', 'TEXT'),
           ('tries', 'INTEGER'),
           ('until_at', 'TEXT'),
           ('node', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('renders') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* rendersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('renders_ready', 'site, urgency desc, id', 'site, urgency desc', 'state=''n'''),
           ('renders_expired', 'until_at', 'until_at', 'state=''a''')
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
    FROM   pragma_index_list('renders') AS l
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
CREATE INDEX renders_ready ON renders (site, urgency DESC, id)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX renders_expired ON renders (until_at)
WHERE  state = 'A';
