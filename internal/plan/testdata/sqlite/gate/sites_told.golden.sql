-- Package sitestoldq uses the table exports as a queue of jobs on SQLite 3.38 and later.
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
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of the jobs that are alike in site_id, at most as many run at once as the argument running of Claim says; one claim writes at a time and counts what is running.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates exports_sites_told_ready and exports_sites_told_group and exports_sites_told_line.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for site_id has it read rows of one group alone

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, site_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param running int, 2: limit
UPDATE /* sitestoldq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   exports
           WHERE  state = 'new'
           AND    ?1 > (SELECT count(*)
               FROM   exports AS other
               WHERE  other.site_id = exports.site_id
               AND    likelihood(other.state = 'busy', 0.99))
           + (SELECT count(*)
               FROM   (SELECT other.id FROM exports AS other
                       WHERE  other.site_id = exports.site_id
                       AND    likelihood(other.state = 'new', 0.99)
                       ORDER  BY other.id LIMIT ?1) AS other
               WHERE  other.id < exports.id)
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, site_id, tries, taken_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, site_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param running int
UPDATE /* sitestoldq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   exports
           WHERE  state = 'new'
           AND    ?1 > (SELECT count(*)
               FROM   exports AS other
               WHERE  other.site_id = exports.site_id
               AND    likelihood(other.state = 'busy', 0.99))
           ORDER  BY id
           LIMIT  1)
RETURNING id, site_id, tries, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* sitestoldq.Complete */ exports
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
UPDATE /* sitestoldq.Fail */ exports
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
UPDATE /* sitestoldq.Fail */ exports
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
UPDATE /* sitestoldq.Requeue */ exports
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
UPDATE /* sitestoldq.Extend */ exports
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
-- index: (site_id) WHERE state = 'busy', which has the rows that somebody has
-- arguments: 1: limit
UPDATE /* sitestoldq.Recover */ exports
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
-- index: (site_id) WHERE state = 'busy', which has the rows that somebody has
-- arguments: 1: limit
UPDATE /* sitestoldq.Recover */ exports
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
UPDATE /* sitestoldq.Redrive */ exports
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
DELETE /* sitestoldq.Purge */ FROM exports
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
DELETE /* sitestoldq.Purge */ FROM exports
WHERE  id IN (
           SELECT id
           FROM   exports
           WHERE  state = 'dead'
           AND    taken_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new SiteID
INSERT /* sitestoldq.Enqueue */ INTO exports
       (site_id)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all SiteID
INSERT /* sitestoldq.EnqueueMany */ INTO exports
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
SELECT /* sitestoldq.Stats */
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
-- index: (id, site_id) WHERE state = 'new'
SELECT /* sitestoldq.Backlog */
       count(*) AS ready
FROM   exports
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, site_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param running int, 2: limit
SELECT /* sitestoldq.Peek */
       id, site_id, tries
FROM   exports
WHERE  state = 'new'
AND    ?1 > (SELECT count(*)
               FROM   exports AS other
               WHERE  other.site_id = exports.site_id
               AND    likelihood(other.state = 'busy', 0.99))
           + (SELECT count(*)
               FROM   (SELECT other.id FROM exports AS other
                       WHERE  other.site_id = exports.site_id
                       AND    likelihood(other.state = 'new', 0.99)
                       ORDER  BY other.id LIMIT ?1) AS other
               WHERE  other.id < exports.id)
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sitestoldq.Verify */
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
WITH /* sitestoldq.Verify */ want (name, type) AS (
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
WITH /* sitestoldq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('exports_sites_told_ready', 'id', 'id', 'state=''new'''),
           ('exports_sites_told_group', 'site_id', 'site_id', 'state=''busy'''),
           ('exports_sites_told_line', 'site_id, id', 'site_id', 'state=''new''')
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
CREATE INDEX exports_sites_told_ready ON exports (id, site_id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX exports_sites_told_group ON exports (site_id)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX exports_sites_told_line ON exports (site_id, id)
WHERE  state = 'new';
