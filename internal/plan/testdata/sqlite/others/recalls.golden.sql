-- Package recallsq uses the table tape_recall as a queue of jobs on SQLite 3.38 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes rows of other jobs (Enqueue, Claim, Complete, Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tape_recall_recalls_ready and tape_recall_recalls_expired and tape_recall_recalls_others.
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
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (due, task_id) WHERE status = 1; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = unixepoch()
WHERE  task_id IN (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 1
           AND    due <= unixepoch()
           ORDER  BY due, task_id
           LIMIT  ?1)
RETURNING task_id, grp, file, since, tries, due, weight, why;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (due, task_id) WHERE status = 1; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = unixepoch()
WHERE  task_id = (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 1
           AND    due <= unixepoch()
           ORDER  BY due, task_id
           LIMIT  1)
RETURNING task_id, grp, file, since, tries, due, weight, why;

-- sql/claim_update_tape_recall.sql
-- claim: updates rows of tape_recall for the rows that were taken; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows tape_recall_group (grp)
-- arguments: 1: batch_all TaskID
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = unixepoch()
FROM   tape_recall AS held
WHERE  held.task_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 1
AND    tape_recall.task_id NOT IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all TaskID Since
SELECT /* recallsq.Complete */
       task_id
FROM   tape_recall
WHERE  (task_id, since) IN (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    +(status = 2);

-- sql/complete_update_tape_recall.sql
-- complete: updates rows of tape_recall for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows tape_recall_group (grp)
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Complete */ tape_recall
SET    status = 0,
       weight = (tape_recall.weight + shared.jobs)
FROM   (
       SELECT held.grp AS of_grp,
              count(*) AS jobs
       FROM   tape_recall AS held
WHERE  (held.task_id, held.since) IN (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
       GROUP  BY held.grp
       ) AS shared
WHERE  tape_recall.grp = shared.of_grp
AND    tape_recall.status IN (2, 1)
AND    NOT EXISTS (SELECT 1 FROM (SELECT json_extract(value, '$[0]') AS task_id_held, json_extract(value, '$[1]') AS since_held FROM json_each(?1)) AS job WHERE tape_recall.task_id = task_id_held);

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Complete */ tape_recall
SET    status = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  task_id = task_id_held
AND    +(since = since_held
      AND    status = 2)
RETURNING task_id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all TaskID Since
SELECT /* recallsq.Fail */
       task_id
FROM   tape_recall
WHERE  (task_id, since) IN (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    +(status = 2);

-- sql/retry_update_tape_recall.sql
-- retry: updates rows of tape_recall for the rows that retry_lock.sql locked, before retry.sql; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows tape_recall_group (grp)
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    due = (held.due + 300)
FROM   tape_recall AS held
WHERE  (held.task_id, held.since) IN (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 1
AND    NOT EXISTS (SELECT 1 FROM (SELECT json_extract(value, '$[0]') AS task_id_held, json_extract(value, '$[1]') AS since_held FROM json_each(?1)) AS job WHERE tape_recall.task_id = task_id_held);

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 1,
       since = NULL,
       tries = tries + 1,
       due = CAST(unixepoch() + ?1 AS INTEGER),
       why = ?2
FROM   (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?3)
       ) AS job
WHERE  task_id = task_id_held
AND    +(since = since_held
      AND    status = 2)
RETURNING task_id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all TaskID Since
SELECT /* recallsq.Fail */
       task_id
FROM   tape_recall
WHERE  (task_id, since) IN (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1))
AND    +(status = 2);

-- sql/fail_update_tape_recall.sql
-- fail: updates rows of tape_recall for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows tape_recall_group (grp)
-- arguments: 1: error, 2: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 3,
       why = ?1
FROM   tape_recall AS held
WHERE  (held.task_id, held.since) IN (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?2))
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 2
AND    NOT EXISTS (SELECT 1 FROM (SELECT json_extract(value, '$[0]') AS task_id_held, json_extract(value, '$[1]') AS since_held FROM json_each(?2)) AS job WHERE tape_recall.task_id = task_id_held);

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all TaskID Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 3,
       tries = tries + 1,
       why = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?2)
       ) AS job
WHERE  task_id = task_id_held
AND    +(since = since_held
      AND    status = 2)
RETURNING task_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all TaskID Since
UPDATE /* recallsq.Requeue */ tape_recall
SET    status = 1,
       since = NULL,
       due = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE due END
FROM   (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?2)
       ) AS job
WHERE  task_id = task_id_held
AND    +(since = since_held
      AND    status = 2)
RETURNING task_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all TaskID Since
UPDATE /* recallsq.Extend */ tape_recall
SET    since = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS task_id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  task_id = task_id_held
AND    +(since = since_held
      AND    status = 2)
RETURNING task_id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (since) WHERE status = 2; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 1,
       since = NULL,
       tries = tries + 1
WHERE  task_id IN (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 2
           AND    tries < 4
           AND    since <= unixepoch() - 3600
           LIMIT  ?1);

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (since) WHERE status = 2; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* recallsq.Recover */
       task_id
FROM   tape_recall
WHERE  status = 2
AND    tries >= 4
AND    since <= unixepoch() - 3600
LIMIT  ?1;

-- sql/recover_failed_update_tape_recall.sql
-- recover_failed: updates rows of tape_recall for the rows that recover_failed_lock.sql locked, before recover_failed.sql; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows tape_recall_group (grp)
-- arguments: 1: batch_all TaskID
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 3,
       why = 'the claim ran out'
FROM   tape_recall AS held
WHERE  held.task_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 2
AND    tape_recall.task_id NOT IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all TaskID
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 3,
       tries = tries + 1,
       why = 'the claim ran out'
WHERE  task_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(status = 2
      AND    tries >= 4)
RETURNING task_id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* recallsq.Redrive */ tape_recall
SET    status = 1,
       since = NULL,
       tries = 0
WHERE  task_id IN (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 3
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 0 would find them
-- arguments: 1: older, 2: limit
DELETE /* recallsq.Purge */ FROM tape_recall
WHERE  task_id IN (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 0
           AND    since <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 3 would find them
-- arguments: 1: older, 2: limit
DELETE /* recallsq.Purge */ FROM tape_recall
WHERE  task_id IN (
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 3
           AND    since <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* recallsq.Reserve */ FROM tape_recall
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Grp, 2: new File, 3: new Due, 4: new Weight
INSERT /* recallsq.Enqueue */ INTO tape_recall
       (grp, file, due, weight)
VALUES (?1, ?2, coalesce(?3, 0), coalesce(?4, 0))
RETURNING task_id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Grp File Due Weight
INSERT /* recallsq.EnqueueMany */ INTO tape_recall
       (grp, file, due, weight)
SELECT grp_new, file_new, coalesce(due_new, 0), coalesce(weight_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS grp_new,
                  json_extract(value, '$[1]') AS file_new,
                  json_extract(value, '$[2]') AS due_new,
                  json_extract(value, '$[3]') AS weight_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING task_id;

-- sql/enqueue_delete_tape_recall.sql
-- enqueue: deletes rows from tape_recall for the rows that were added; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows (file)
-- arguments: 1: batch_all TaskID
DELETE /* recallsq.Enqueue */ FROM tape_recall
WHERE  file IN (
SELECT held.file
FROM   tape_recall AS held
WHERE  held.task_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1)))
AND    tape_recall.status = 1
AND    tape_recall.task_id NOT IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* recallsq.Stats */
       count(*) FILTER (WHERE status = 1 AND due <= unixepoch()) AS ready,
       count(*) FILTER (WHERE status = 2) AS running,
       count(*) FILTER (WHERE status = 0) AS done,
       count(*) FILTER (WHERE status = 3) AS failed,
       count(*) FILTER (WHERE status = 1 AND due > unixepoch()) AS delayed,
       count(*) FILTER (WHERE status = 2 AND since <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(due) FILTER (WHERE status = 1 AND due <= unixepoch())) AS oldest_ready,
       (unixepoch() - min(since) FILTER (WHERE status = 2)) AS oldest_running
FROM   tape_recall;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (due, task_id) WHERE status = 1
SELECT /* recallsq.Backlog */
       count(*) FILTER (WHERE due <= unixepoch()) AS ready,
       count(*) FILTER (WHERE due > unixepoch()) AS delayed,
       (unixepoch() - min(due) FILTER (WHERE due <= unixepoch())) AS oldest_ready
FROM   tape_recall
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (due, task_id) WHERE status = 1; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* recallsq.Peek */
       task_id, grp, file, tries, due, weight, why
FROM   tape_recall
WHERE  status = 1
AND    due <= unixepoch()
ORDER  BY due, task_id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* recallsq.Verify */
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
WITH /* recallsq.Verify */ want (name, type) AS (
    VALUES ('task_id', 'integer'),
           ('grp', 'bigint'),
           ('file', 'text'),
           ('status', 'int'),
           ('since', 'integer'),
           ('tries', 'int'),
           ('due', 'integer'),
           ('weight', 'int'),
           ('why', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tape_recall') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* recallsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('tape_recall_recalls_ready', 'due, task_id', 'due', 'status=1'),
           ('tape_recall_recalls_expired', 'since', 'since', 'status=2'),
           ('tape_recall_recalls_others', 'file', 'file', ''),
           ('tape_recall_group', 'grp', 'grp', '')
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
    FROM   pragma_index_list('tape_recall') AS l
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
CREATE INDEX tape_recall_recalls_ready ON tape_recall (due, task_id)
WHERE  status = 1;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX tape_recall_recalls_expired ON tape_recall (since)
WHERE  status = 2;

-- finds the rows of other jobs that a step writes
CREATE INDEX tape_recall_recalls_others ON tape_recall (file);

-- finds the rows of other jobs that a step writes: tape_recall_group serves already
