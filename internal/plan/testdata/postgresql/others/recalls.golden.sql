-- Package recallsq uses the table tape_recall as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. It writes rows of other jobs as well, and waits for who has those locked: of two claims that wait for each other one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
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
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (due, task_id) WHERE status = 1
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = now()
WHERE  task_id = ANY (ARRAY(
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 1
           AND    due <= now()
           ORDER  BY due, task_id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING task_id, grp, file, since, tries, due, weight, why;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (due, task_id) WHERE status = 1
-- isolation: read committed
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = now()
WHERE  task_id = ANY (ARRAY(
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 1
           AND    due <= now()
           ORDER  BY due, task_id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING task_id, grp, file, since, tries, due, weight, why;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (due, task_id) WHERE status = 1
-- isolation: read committed
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = now()
WHERE  task_id = ANY (ARRAY(
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 1
           AND    due <= now()
           ORDER  BY due, task_id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING task_id, grp, file, since, tries, due, weight, why;

-- sql/claim_update_tape_recall.sql
-- claim: updates rows of tape_recall for the rows that were taken; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch TaskID
UPDATE /* recallsq.Claim */ tape_recall
SET    status = 2,
       since = now()
FROM   tape_recall AS held
WHERE  held.task_id = ANY ($1::bigint[])
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 1
AND    tape_recall.task_id <> ALL ($1::bigint[]);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch TaskID, 2: batch Since
SELECT /* recallsq.Complete */
       task_id
FROM   tape_recall,
       unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
FOR    NO KEY UPDATE OF tape_recall;

-- sql/complete_update_tape_recall.sql
-- complete: updates rows of tape_recall for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch TaskID, 2: batch Since
UPDATE /* recallsq.Complete */ tape_recall
SET    status = 0,
       weight = (tape_recall.weight + shared.jobs)
FROM   (
           SELECT held.grp AS of_grp,
                  count(*) AS jobs
           FROM   tape_recall AS held,
                  unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held)
           WHERE  held.task_id = task_id_held
           AND    CASE WHEN held.since = since_held THEN true END
           GROUP  BY held.grp
       ) AS shared
WHERE  tape_recall.grp = shared.of_grp
AND    tape_recall.status IN (2, 1)
AND    NOT EXISTS (SELECT 1 FROM unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held) WHERE tape_recall.task_id = task_id_held);

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch TaskID, 2: batch Since
UPDATE /* recallsq.Complete */ tape_recall
SET    status = 0
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
RETURNING task_id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch TaskID, 2: batch Since
SELECT /* recallsq.Fail */
       task_id
FROM   tape_recall,
       unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
FOR    NO KEY UPDATE OF tape_recall;

-- sql/retry_update_tape_recall.sql
-- retry: updates rows of tape_recall for the rows that retry_lock.sql locked, before retry.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch TaskID, 2: batch Since
UPDATE /* recallsq.Fail */ tape_recall
SET    due = (held.due + interval '5 minutes')
FROM   tape_recall AS held,
       unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held)
WHERE  held.task_id = task_id_held
AND    CASE WHEN held.since = since_held THEN true END
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 1
AND    NOT EXISTS (SELECT 1 FROM unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held) WHERE tape_recall.task_id = task_id_held);

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch TaskID, 4: batch Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 1,
       since = NULL,
       tries = tries + 1,
       due = now() + make_interval(secs => $1),
       why = $2
FROM   unnest($3::bigint[], $4::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
RETURNING task_id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: since as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch TaskID, 2: batch Since
SELECT /* recallsq.Fail */
       task_id
FROM   tape_recall,
       unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
FOR    NO KEY UPDATE OF tape_recall;

-- sql/fail_update_tape_recall.sql
-- fail: updates rows of tape_recall for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: error, 2: batch TaskID, 3: batch Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 3,
       why = $1
FROM   tape_recall AS held,
       unnest($2::bigint[], $3::timestamptz[]) AS job (task_id_held, since_held)
WHERE  held.task_id = task_id_held
AND    CASE WHEN held.since = since_held THEN true END
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 2
AND    NOT EXISTS (SELECT 1 FROM unnest($2::bigint[], $3::timestamptz[]) AS job (task_id_held, since_held) WHERE tape_recall.task_id = task_id_held);

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch TaskID, 3: batch Since
UPDATE /* recallsq.Fail */ tape_recall
SET    status = 3,
       tries = tries + 1,
       why = $1
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
RETURNING task_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch TaskID, 3: batch Since
UPDATE /* recallsq.Requeue */ tape_recall
SET    status = 1,
       since = NULL,
       due = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE due END
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
RETURNING task_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch TaskID, 2: batch Since
UPDATE /* recallsq.Extend */ tape_recall
SET    since = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (task_id_held, since_held)
WHERE  task_id = task_id_held
AND    CASE WHEN since = since_held
            AND    status = 2 THEN true END
RETURNING task_id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (since) WHERE status = 2
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 1,
       since = NULL,
       tries = tries + 1
WHERE  task_id = ANY (ARRAY(
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 2
           AND    tries < 4
           AND    since <= now() - interval '1 hour'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (since) WHERE status = 2
-- isolation: read committed
-- arguments: 1: limit
SELECT /* recallsq.Recover */
       task_id
FROM   tape_recall
WHERE  status = 2
AND    tries >= 4
AND    since <= now() - interval '1 hour'
LIMIT  $1
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/recover_failed_update_tape_recall.sql
-- recover_failed: updates rows of tape_recall for the rows that recover_failed_lock.sql locked, before recover_failed.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows tape_recall_group (grp)
-- isolation: read committed
-- arguments: 1: batch TaskID
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 3,
       why = 'the claim ran out'
FROM   tape_recall AS held
WHERE  held.task_id = ANY ($1::bigint[])
AND    tape_recall.grp = held.grp
AND    tape_recall.status = 2
AND    tape_recall.task_id <> ALL ($1::bigint[]);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch TaskID
UPDATE /* recallsq.Recover */ tape_recall
SET    status = 3,
       tries = tries + 1,
       why = 'the claim ran out'
WHERE  task_id = ANY ($1::bigint[])
AND    CASE WHEN status = 2
            AND    tries >= 4 THEN true END
RETURNING task_id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* recallsq.Redrive */ tape_recall
SET    status = 1,
       since = NULL,
       tries = 0
WHERE  task_id = ANY (ARRAY(
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 3
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 0 would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* recallsq.Purge */ FROM tape_recall
WHERE  task_id = ANY (ARRAY(
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 0
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 3 would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* recallsq.Purge */ FROM tape_recall
WHERE  task_id = ANY (ARRAY(
           SELECT task_id
           FROM   tape_recall
           WHERE  status = 3
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Grp, 2: new File, 3: new Due, 4: new Weight
INSERT /* recallsq.Enqueue */ INTO tape_recall
       (grp, file, due, weight)
VALUES ($1, $2, coalesce($3::timestamptz, now()), coalesce($4::integer, 0))
RETURNING task_id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Grp, 2: new_batch File, 3: new_batch Due, 4: new_batch Weight
INSERT /* recallsq.EnqueueMany */ INTO tape_recall
       (grp, file, due, weight)
SELECT grp_new, file_new, coalesce(due_new, now()), coalesce(weight_new, 0)
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::integer[]) WITH ORDINALITY AS job (grp_new, file_new, due_new, weight_new, job_order)
ORDER  BY job_order
RETURNING task_id;

-- sql/enqueue_delete_tape_recall.sql
-- enqueue: deletes rows from tape_recall for the rows that were added; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (file)
-- isolation: read committed
-- arguments: 1: batch TaskID
DELETE /* recallsq.Enqueue */ FROM tape_recall
USING  tape_recall AS held
WHERE  held.task_id = ANY ($1::bigint[])
AND    tape_recall.file = held.file
AND    tape_recall.status = 1
AND    tape_recall.task_id <> ALL ($1::bigint[]);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* recallsq.Stats */
       count(*) FILTER (WHERE status = 1 AND due <= now()) AS ready,
       count(*) FILTER (WHERE status = 2) AS running,
       count(*) FILTER (WHERE status = 0) AS done,
       count(*) FILTER (WHERE status = 3) AS failed,
       count(*) FILTER (WHERE status = 1 AND due > now()) AS delayed,
       count(*) FILTER (WHERE status = 2 AND since <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(due) FILTER (WHERE status = 1 AND due <= now())) AS oldest_ready,
       extract(epoch FROM now() - min(since) FILTER (WHERE status = 2)) AS oldest_running
FROM   tape_recall;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (due, task_id) WHERE status = 1
SELECT /* recallsq.Backlog */
       count(*) FILTER (WHERE due <= now()) AS ready,
       count(*) FILTER (WHERE due > now()) AS delayed,
       extract(epoch FROM now() - min(due) FILTER (WHERE due <= now())) AS oldest_ready
FROM   tape_recall
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (due, task_id) WHERE status = 1
-- isolation: read committed
-- arguments: 1: limit
SELECT /* recallsq.Peek */
       task_id, grp, file, tries, due, weight, why
FROM   tape_recall
WHERE  status = 1
AND    due <= now()
ORDER  BY due, task_id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* recallsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* recallsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('task_id', 'bigint'),
               ('grp', 'bigint'),
               ('file', 'text'),
               ('status', 'integer'),
               ('since', 'timestamptz'),
               ('tries', 'integer'),
               ('due', 'timestamptz'),
               ('weight', 'integer'),
               ('why', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tape_recall')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* recallsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* recallsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tape_recall_recalls_ready', 'due, task_id', 'due, task_id', 'status=1'),
               ('tape_recall_recalls_expired', 'since', 'since', 'status=2'),
               ('tape_recall_recalls_others', 'file', 'file', ''),
               ('tape_recall_group', 'grp', 'grp', '')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('tape_recall')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY tape_recall_recalls_ready ON tape_recall (due, task_id)
WHERE  status = 1;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY tape_recall_recalls_expired ON tape_recall (since)
WHERE  status = 2;

-- finds the rows of other jobs that a step writes
CREATE INDEX CONCURRENTLY tape_recall_recalls_others ON tape_recall (file);

-- finds the rows of other jobs that a step writes: tape_recall_group serves already
