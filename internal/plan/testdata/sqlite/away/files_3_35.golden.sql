-- Package files335q uses the tables files and files_acquired as a queue of jobs on SQLite 3.35 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (files_failed)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (files_failed), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes files_failed (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates files_acquired_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"; order 1 at column "not_before" takes them by their time, and reads none that wait for theirs
-- note: column "id" of files_failed gets the key of the row (columns: same), and numbers rows by itself as well: where another row has that number, the move fails; name the columns in the place of same, without this one, to have it numbered anew

-- sql/claim.sql
-- claim: ready to running, from files to files_acquired, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: worker AcquiredBy, 2: token Mark, 3: limit
INSERT /* files335q.Claim */ INTO files_acquired
       (id, path, size, tries, not_before, acquired_by, acquired_at, lease_till, mark)
SELECT id, path, size, tries + 1, not_before, ?1,
       CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       CAST(strftime('%s', 'now') + 300 AS INTEGER), ?2
FROM   files
WHERE  (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)
ORDER  BY id
LIMIT  ?3
RETURNING id, path, size, tries, not_before, problem, acquired_at, lease_till, mark;

-- sql/claim_1.sql
-- claim: ready to running, from files to files_acquired, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: worker AcquiredBy, 2: token Mark
INSERT /* files335q.Claim */ INTO files_acquired
       (id, path, size, tries, not_before, acquired_by, acquired_at, lease_till, mark)
SELECT id, path, size, tries + 1, not_before, ?1,
       CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       CAST(strftime('%s', 'now') + 300 AS INTEGER), ?2
FROM   files
WHERE  (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)
ORDER  BY id
LIMIT  1
RETURNING id, path, size, tries, not_before, problem, acquired_at, lease_till, mark;

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to files_acquired
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* files335q.Claim */ FROM files
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* files335q.Complete */ FROM files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
SELECT /* files335q.Fail */
       id
FROM   files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to files before retry.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: delay, 2: batch_all ID Mark
INSERT /* files335q.Fail */ INTO files
       (id, path, size, tries, not_before)
SELECT held.id, held.path, held.size, held.tries,
       CAST(strftime('%s', 'now') + ?1 AS INTEGER)
FROM   files_acquired AS held
WHERE  (held.id, held.mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?2));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* files335q.Fail */ FROM files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
SELECT /* files335q.Fail */
       id
FROM   files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to files_failed before fail.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: error, 2: batch_all ID Mark
INSERT /* files335q.Fail */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, ?1
FROM   files_acquired AS held
WHERE  (held.id, held.mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?2));

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* files335q.Fail */ FROM files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
SELECT /* files335q.Requeue */
       id
FROM   files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to files before requeue.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: delay, 2: batch_all ID Mark
INSERT /* files335q.Requeue */ INTO files
       (id, path, size, tries, not_before)
SELECT held.id, held.path, held.size, held.tries - 1,
       CASE WHEN ?1 > 0.0 THEN CAST(strftime('%s', 'now') + ?1 AS INTEGER) ELSE held.not_before END
FROM   files_acquired AS held
WHERE  (held.id, held.mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?2));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* files335q.Requeue */ FROM files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
UPDATE /* files335q.Extend */ files_acquired
SET    lease_till = CAST(strftime('%s', 'now') + 300 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(mark = mark_held)
RETURNING id, lease_till;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (lease_till); until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* files335q.Recover */
       id
FROM   files_acquired
WHERE  tries < 5
AND    lease_till <= CAST(strftime('%s', 'now') AS INTEGER)
LIMIT  ?1;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to files before recover.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* files335q.Recover */ INTO files
       (id, path, size, tries, not_before)
SELECT held.id, held.path, held.size, held.tries, held.not_before
FROM   files_acquired AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* files335q.Recover */ FROM files_acquired
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(tries < 5)
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (lease_till); until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* files335q.Recover */
       id
FROM   files_acquired
WHERE  tries >= 5
AND    lease_till <= CAST(strftime('%s', 'now') AS INTEGER)
LIMIT  ?1;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to files_failed before recover_failed.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* files335q.Recover */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, 'the claim ran out'
FROM   files_acquired AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* files335q.Recover */ FROM files_acquired
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(tries >= 5)
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* files335q.Reserve */ FROM files_acquired
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Path, 2: new Size, 3: new NotBefore
INSERT /* files335q.Enqueue */ INTO files
       (path, size, not_before)
VALUES (?1, coalesce(?2, 0), ?3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Path Size NotBefore
INSERT /* files335q.EnqueueMany */ INTO files
       (path, size, not_before)
SELECT path_new, coalesce(size_new, 0), not_before_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS path_new,
                  json_extract(value, '$[1]') AS size_new,
                  json_extract(value, '$[2]') AS not_before_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* files335q.Stats */
       ready,
       delayed,
       oldest_ready,
       running,
       expired,
       oldest_running
FROM   (
           SELECT count(*) FILTER (WHERE (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)) AS ready,
                  count(*) FILTER (WHERE not_before > CAST(strftime('%s', 'now') AS INTEGER)) AS delayed,
                  (CAST(strftime('%s', 'now') AS INTEGER) - min(not_before) FILTER (WHERE (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL))) AS oldest_ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(*) FILTER (WHERE lease_till <= CAST(strftime('%s', 'now') AS INTEGER)) AS expired,
                  ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(acquired_at)) / 1000.0) AS oldest_running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* files335q.Peek */
       id, path, size, tries, not_before
FROM   files
WHERE  (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* files335q.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.35'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 35);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* files335q.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('path', 'TEXT'),
           ('size', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('not_before', 'INTEGER'),
           ('problem', 'TEXT'),
           ('acquired_by', 'TEXT'),
           ('acquired_at', 'INTEGER'),
           ('lease_till', 'INTEGER'),
           ('mark', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('files_acquired') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of files_failed
-- locks: none
WITH /* files335q.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('path', 'TEXT'),
           ('tries', 'INTEGER'),
           ('problem', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('files_failed') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_ready.sql
-- verify: columns of files
-- locks: none
WITH /* files335q.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('path', 'TEXT'),
           ('size', 'INTEGER'),
           ('tries', 'INTEGER'),
           ('not_before', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('files') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* files335q.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('files_acquired_expired', 'lease_till', 'lease_till', '')
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
    FROM   pragma_index_list('files_acquired') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Recover: claims that ran out
-- filesq advises the same
CREATE INDEX files_acquired_expired ON files_acquired (lease_till);
