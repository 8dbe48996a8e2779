-- Package hooksq uses the table hooks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- Of the jobs that are alike in tenant, at most 2 run at once; one claim writes at a time and counts what is running.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates hooks_ready and hooks_group and hooks_line.
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
--   guarded      the running rows of a group are counted by the statement that takes the rows
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: a row whose column "tenant" is null belongs to no group
-- note: the fence compares column "until_at", which counts whole seconds: two claims within one second look alike
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for tenant has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (kind, weight DESC, id, tenant) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind string, 2: limit
UPDATE /* hooksq.Claim */ hooks
SET    state = 'busy',
       until_at = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   hooks
           WHERE  state = 'new'
           AND    kind = ?1
           AND    ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    likelihood(other.state = 'busy', 0.99))
           + (SELECT count(*)
               FROM   (SELECT other.weight, other.id FROM hooks AS other
                       WHERE  other.tenant = hooks.tenant
                       AND    likelihood(other.state = 'new', 0.99)
                       AND    likelihood(other.kind = ?1, 0.99)
                       ORDER  BY other.weight DESC, other.id LIMIT 2) AS other
               WHERE  other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id))
           ORDER  BY weight DESC, id
           LIMIT  ?2)
RETURNING id, tenant, kind, until_at, weight;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (kind, weight DESC, id, tenant) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind string
UPDATE /* hooksq.Claim */ hooks
SET    state = 'busy',
       until_at = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   hooks
           WHERE  state = 'new'
           AND    kind = ?1
           AND    ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    likelihood(other.state = 'busy', 0.99)))
           ORDER  BY weight DESC, id
           LIMIT  1)
RETURNING id, tenant, kind, until_at, weight;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Complete */ hooks
SET    state = 'sent',
       until_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(until_at = until_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Fail */ hooks
SET    state = 'dead',
       until_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(until_at = until_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Requeue */ hooks
SET    state = 'new',
       until_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(until_at = until_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID UntilAt
UPDATE /* hooksq.Extend */ hooks
SET    until_at = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(until_at = until_at_held
      AND    state = 'busy')
RETURNING id, until_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (tenant) WHERE state = 'busy', which has the rows that somebody has
-- arguments: 1: limit
UPDATE /* hooksq.Recover */ hooks
SET    state = 'new',
       until_at = NULL
WHERE  id IN (
           SELECT id
           FROM   hooks
           WHERE  state = 'busy'
           AND    until_at <= unixepoch()
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* hooksq.Redrive */ hooks
SET    state = 'new',
       until_at = NULL
WHERE  id IN (
           SELECT id
           FROM   hooks
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'sent' would find them
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM hooks
WHERE  id IN (
           SELECT id
           FROM   hooks
           WHERE  state = 'sent'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM hooks
WHERE  id IN (
           SELECT id
           FROM   hooks
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Tenant, 2: new Kind, 3: new Weight
INSERT /* hooksq.Enqueue */ INTO hooks
       (tenant, kind, weight)
VALUES (?1, ?2, coalesce(?3, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Tenant Kind Weight
INSERT /* hooksq.EnqueueMany */ INTO hooks
       (tenant, kind, weight)
SELECT tenant_new, kind_new, coalesce(weight_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS tenant_new,
                  json_extract(value, '$[1]') AS kind_new,
                  json_extract(value, '$[2]') AS weight_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* hooksq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND until_at <= unixepoch()) AS expired
FROM   hooks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* hooksq.StatsOf */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND until_at <= unixepoch()) AS expired
FROM   hooks
WHERE  kind = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (kind, weight DESC, id, tenant) WHERE state = 'new'
SELECT /* hooksq.Backlog */
       kind,
       count(*) AS ready
FROM   hooks
WHERE  state = 'new'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, weight DESC, id, tenant) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind string, 2: limit
SELECT /* hooksq.Peek */
       id, tenant, kind, weight
FROM   hooks
WHERE  state = 'new'
AND    kind = ?1
AND    ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    likelihood(other.state = 'busy', 0.99))
           + (SELECT count(*)
               FROM   (SELECT other.weight, other.id FROM hooks AS other
                       WHERE  other.tenant = hooks.tenant
                       AND    likelihood(other.state = 'new', 0.99)
                       AND    likelihood(other.kind = ?1, 0.99)
                       ORDER  BY other.weight DESC, other.id LIMIT 2) AS other
               WHERE  other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id))
ORDER  BY weight DESC, id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* hooksq.Verify */
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
WITH /* hooksq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('tenant', 'TEXT'),
           ('kind', 'TEXT'),
           ('state', 'TEXT'),
           ('until_at', 'INTEGER'),
           ('weight', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('hooks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* hooksq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('hooks_ready', 'kind, weight desc, id', 'kind, weight desc', 'state=''new'''),
           ('hooks_group', 'tenant', 'tenant', 'state=''busy'''),
           ('hooks_line', 'tenant, weight desc, id', 'tenant, weight desc', 'state=''new''')
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
    FROM   pragma_index_list('hooks') AS l
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
CREATE INDEX hooks_ready ON hooks (kind, weight DESC, id, tenant)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX hooks_group ON hooks (tenant)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX hooks_line ON hooks (tenant, weight DESC, id)
WHERE  state = 'new';
