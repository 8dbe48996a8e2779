-- Package jobsq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=update changes the row that is like a new job in uid (unique key sqlite_autoindex_jobs_1), where ({row}.state <> 'running' and (data <> {new}.data or {row}.scheduled <> {new}.scheduled)), and leaves it alone where that does not hold: data = {data}, priority = {priority} unless nil, state = 'scheduled', scheduled = {scheduled} unless nil

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* jobsq.Claim */ jobs
SET    state = 'running',
       deadline = CAST((julianday('now') - 2440587.5) * 86400000 + 600 * 1000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'scheduled'
           AND    scheduled <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           ORDER  BY priority DESC, id
           LIMIT  ?1)
RETURNING id, uid, data, priority, scheduled, deadline;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* jobsq.Claim */ jobs
SET    state = 'running',
       deadline = CAST((julianday('now') - 2440587.5) * 86400000 + 600 * 1000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   jobs
           WHERE  state = 'scheduled'
           AND    scheduled <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           ORDER  BY priority DESC, id
           LIMIT  1)
RETURNING id, uid, data, priority, scheduled, deadline;

-- sql/complete.sql
-- complete: running to done
-- fence: deadline as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Deadline
UPDATE /* jobsq.Complete */ jobs
SET    state = 'finished',
       deadline = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS deadline_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(deadline = deadline_held
      AND    state = 'running')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: deadline as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Deadline
UPDATE /* jobsq.Fail */ jobs
SET    state = 'failed',
       deadline = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS deadline_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(deadline = deadline_held
      AND    state = 'running')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: deadline as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Deadline
UPDATE /* jobsq.Requeue */ jobs
SET    state = 'scheduled',
       scheduled = CASE WHEN ?1 > 0.0 THEN CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER) ELSE scheduled END,
       deadline = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS deadline_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(deadline = deadline_held
      AND    state = 'running')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: deadline as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Deadline
UPDATE /* jobsq.Extend */ jobs
SET    deadline = CAST((julianday('now') - 2440587.5) * 86400000 + 600 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS deadline_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(deadline = deadline_held
      AND    state = 'running')
RETURNING id, deadline;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (deadline) WHERE state = 'running'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 'scheduled',
       deadline = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'running'
           AND    deadline <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    state = 'scheduled',
       deadline = NULL
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'finished' would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'finished'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id IN (
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due; or what it changes of the row that is like it in uid (unique key sqlite_autoindex_jobs_1), where update_if holds for that; else it is left alone, and nothing comes back
-- locks: the database for writing, while the statement runs
-- arguments: 1: new UID, 2: new Data, 3: new Priority, 4: new Scheduled
INSERT /* jobsq.Enqueue */ INTO jobs
       (uid, data, priority, scheduled)
VALUES (?1, ?2, coalesce(?3, 0),
        coalesce(?4, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)))
ON     CONFLICT (uid) DO UPDATE
SET    data = excluded.data,
       priority = coalesce(?3, jobs.priority),
       state = 'scheduled',
       scheduled = coalesce(?4, jobs.scheduled)
WHERE  (jobs.state <> 'running' and (jobs.data <> excluded.data or jobs.scheduled <> excluded.scheduled))
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE state = 'scheduled' AND scheduled <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS ready,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'finished') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'scheduled' AND scheduled > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE state = 'running' AND deadline <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(scheduled) FILTER (WHERE state = 'scheduled' AND scheduled <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))) / 1000.0) AS oldest_ready
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'
SELECT /* jobsq.Backlog */
       count(*) FILTER (WHERE scheduled <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS ready,
       count(*) FILTER (WHERE scheduled > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS delayed,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(scheduled) FILTER (WHERE scheduled <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))) / 1000.0) AS oldest_ready
FROM   jobs
WHERE  state = 'scheduled';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority DESC, id, scheduled) WHERE state = 'scheduled'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, uid, data, priority, scheduled
FROM   jobs
WHERE  state = 'scheduled'
AND    scheduled <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
ORDER  BY priority DESC, id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
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
WITH /* jobsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('uid', 'TEXT'),
           ('data', 'TEXT'),
           ('priority', 'INT'),
           ('state', 'TEXT'),
           ('scheduled', 'BIGINT'),
           ('deadline', 'BIGINT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('jobs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* jobsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_ready', 'priority desc, id', 'priority desc', 'state=''scheduled'''),
           ('jobs_expired', 'deadline', 'deadline', 'state=''running''')
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
    FROM   pragma_index_list('jobs') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX jobs_ready ON jobs (priority DESC, id, scheduled)
WHERE  state = 'scheduled';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX jobs_expired ON jobs (deadline)
WHERE  state = 'running';
