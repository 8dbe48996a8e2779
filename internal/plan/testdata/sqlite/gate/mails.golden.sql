-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
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
-- Of the jobs that are alike in site_id, at most as many run at once as this says: select max_jobs from settings where id = {row}.site_id; one claim writes at a time and counts what is running.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready and mails_group and mails_line.
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
-- note: rows are taken as they came, by column "id"
-- note: a row whose column "site_id" is null belongs to no group
-- note: the fence compares column "taken_at", which counts whole seconds: two claims within one second look alike
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for site_id has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, site_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* mailsq.Claim */ mails
SET    state = 'busy',
       taken_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'new'
           AND    (site_id IS NULL
           OR (coalesce((select max_jobs from settings where id = mails.site_id), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.site_id = mails.site_id
               AND    likelihood(other.state = 'busy', 0.99))
           AND coalesce((select max_jobs from settings where id = mails.site_id), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.site_id = mails.site_id
               AND    likelihood(other.state = 'busy', 0.99))
           + (SELECT count(*)
               FROM   mails AS other
               WHERE  other.site_id = mails.site_id
               AND    likelihood(other.state = 'new', 0.99)
               AND    likelihood(other.id < mails.id, 0.99))))
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, site_id, taken_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, site_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* mailsq.Claim */ mails
SET    state = 'busy',
       taken_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   mails
           WHERE  state = 'new'
           AND    (site_id IS NULL
           OR coalesce((select max_jobs from settings where id = mails.site_id), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.site_id = mails.site_id
               AND    likelihood(other.state = 'busy', 0.99)))
           ORDER  BY id
           LIMIT  1)
RETURNING id, site_id, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: taken_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID TakenAt
UPDATE /* mailsq.Complete */ mails
SET    state = 'over'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken_at = taken_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: taken_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID TakenAt
UPDATE /* mailsq.Fail */ mails
SET    state = 'dead'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken_at = taken_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID TakenAt
UPDATE /* mailsq.Requeue */ mails
SET    state = 'new',
       taken_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken_at = taken_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID TakenAt
UPDATE /* mailsq.Extend */ mails
SET    taken_at = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS taken_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(taken_at = taken_at_held
      AND    state = 'busy')
RETURNING id, taken_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (site_id) WHERE state = 'busy', which has the rows that somebody has
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 'new',
       taken_at = NULL
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'busy'
           AND    taken_at <= unixepoch() - 600
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* mailsq.Redrive */ mails
SET    state = 'new',
       taken_at = NULL
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'over' would find them
-- arguments: 1: older, 2: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'over'
           AND    taken_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'dead' would find them
-- arguments: 1: older, 2: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  state = 'dead'
           AND    taken_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new SiteID
INSERT /* mailsq.Enqueue */ INTO mails
       (site_id)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all SiteID
INSERT /* mailsq.EnqueueMany */ INTO mails
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
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND taken_at <= unixepoch() - 600) AS expired,
       (unixepoch() - min(taken_at) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, site_id) WHERE state = 'new'
SELECT /* mailsq.Backlog */
       count(*) AS ready
FROM   mails
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, site_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, site_id
FROM   mails
WHERE  state = 'new'
AND    (site_id IS NULL
           OR (coalesce((select max_jobs from settings where id = mails.site_id), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.site_id = mails.site_id
               AND    likelihood(other.state = 'busy', 0.99))
           AND coalesce((select max_jobs from settings where id = mails.site_id), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.site_id = mails.site_id
               AND    likelihood(other.state = 'busy', 0.99))
           + (SELECT count(*)
               FROM   mails AS other
               WHERE  other.site_id = mails.site_id
               AND    likelihood(other.state = 'new', 0.99)
               AND    likelihood(other.id < mails.id, 0.99))))
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('site_id', 'INTEGER'),
           ('state', 'TEXT'),
           ('taken_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* mailsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('mails_ready', 'id', 'id', 'state=''new'''),
           ('mails_group', 'site_id', 'site_id', 'state=''busy'''),
           ('mails_line', 'site_id, id', 'site_id', 'state=''new''')
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
    FROM   pragma_index_list('mails') AS l
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
CREATE INDEX mails_ready ON mails (id, site_id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX mails_group ON mails (site_id)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX mails_line ON mails (site_id, id)
WHERE  state = 'new';
