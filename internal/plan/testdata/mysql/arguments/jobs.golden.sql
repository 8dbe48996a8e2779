-- Package jobsq uses the table jobs as a queue of jobs on MySQL 5.6 and later.
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
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes runs (Claim, Complete, Fail, Redrive); answers (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 5.6 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  MySQL 5.6 cannot pass over locked rows
--   advisory     MySQL has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          a taken row is gone, so it must be asked for
-- note: column "code" stays as it is when a job fails because its claim ran out (giveup)
-- note: column "why" of runs is left out when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Claim */
       id
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* jobsq.Claim */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 0
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* jobsq.Claim */ jobs FORCE INDEX (PRIMARY)
SET    state = 1,
       lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       tries = tries + 1
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* jobsq.Claim */
       id, CAST(lease_till AS CHAR), tries, body
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/claim_insert_runs.sql
-- claim: inserts rows into runs for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Host, 2: given node *string, 3: list ID
INSERT /* jobsq.Claim */ INTO runs
       (job_id, host, node)
SELECT held.id, ?, ?
FROM   jobs AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* jobsq.Complete */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 1
FOR    UPDATE;

-- sql/complete_insert_answers.sql
-- complete: inserts rows into answers for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Answer, 2: list ID BodyValue, 3: list ID Weight, 4: list ID At, 5: list ID Tries
INSERT /* jobsq.Complete */ INTO answers
       (id, code, body, weight, answered_at)
SELECT held.id, CASE WHEN held.id = ? THEN ? END,
       CASE WHEN held.id = ? THEN (?) END, CASE WHEN held.id = ? THEN ((?)) END,
       CASE WHEN held.id = ? THEN (((?))) END
FROM   jobs AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.tries = ?));

-- sql/complete_delete_runs.sql
-- complete: deletes rows from runs for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of runs one that begins with job_id
-- isolation: read committed
-- arguments: 1: list ID Tries
DELETE /* jobsq.Complete */ runs
FROM   jobs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN runs ON runs.job_id = held.id
WHERE  ((held.id = ? AND held.tries = ?));

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Code, 2: list ID Tries
UPDATE /* jobsq.Complete */ jobs FORCE INDEX (PRIMARY)
SET    state = 2,
       lease_till = NULL,
       code = CASE WHEN id = ? THEN ? END
WHERE  ((id = ? AND tries = ?))
AND    state = 1;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 1
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    state = 0,
       lease_till = NULL
WHERE  ((id = ? AND tries = ?))
AND    state = 1;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* jobsq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 1
FOR    UPDATE;

-- sql/fail_update_runs.sql
-- fail: updates rows of runs for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of runs one that begins with job_id, host
-- isolation: read committed
-- arguments: 1: worker Host, 2: given why *string, 3: list ID Tries
UPDATE /* jobsq.Fail */ jobs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN runs ON runs.job_id = held.id
                     AND runs.host = ?
SET    runs.why = ?
WHERE  ((held.id = ? AND held.tries = ?));

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given code *int32, 2: list ID Tries
UPDATE /* jobsq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    state = 3,
       lease_till = NULL,
       code = ?
WHERE  ((id = ? AND tries = ?))
AND    state = 1;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* jobsq.Requeue */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 1
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* jobsq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    state = 0,
       lease_till = NULL,
       tries = tries - 1
WHERE  ((id = ? AND tries = ?))
AND    state = 1;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* jobsq.Extend */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND tries = ?))
AND    state = 1
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* jobsq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND tries = ?))
AND    state = 1;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* jobsq.Extend */
       id, CAST(lease_till AS CHAR)
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  state = 1
           AND    tries < 3
           AND    lease_till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    state = 0,
       lease_till = NULL;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  state = 1
           AND    tries >= 3
           AND    lease_till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    state = 3,
       lease_till = NULL;

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Redrive */
       id
FROM   jobs
WHERE  state = 3
LIMIT  ?
FOR    UPDATE;

-- sql/redrive_update_runs.sql
-- redrive: updates rows of runs for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the rows it writes, until commit
-- index: the key; of runs one that begins with job_id
-- isolation: read committed
-- arguments: 1: given why *string, 2: list ID
UPDATE /* jobsq.Redrive */ jobs AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN runs ON runs.job_id = held.id
SET    runs.why = ?
WHERE  (held.id = ?);

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* jobsq.Redrive */ jobs FORCE INDEX (PRIMARY)
SET    state = 0,
       lease_till = NULL,
       tries = 0
WHERE  (id = ?)
AND    state = 3;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT id
           FROM   jobs
           WHERE  state = 2
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ jobs
FROM   (
           SELECT id
           FROM   jobs
           WHERE  state = 3
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* jobsq.Enqueue */ INTO jobs
       (body)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (body)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* jobsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN state = 0 THEN 1 END) AS ready,
       count(CASE WHEN state = 1 THEN 1 END) AS running,
       count(CASE WHEN state = 2 THEN 1 END) AS done,
       count(CASE WHEN state = 3 THEN 1 END) AS failed,
       count(CASE WHEN state = 1 AND lease_till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, tries, body
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 0
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 5.6')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 50600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'int' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'code', 'int' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of runs
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'job_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'host', 'varchar' UNION ALL
           SELECT 'node', 'varchar' UNION ALL
           SELECT 'why', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'runs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of answers
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'code', 'varchar' UNION ALL
           SELECT 'body', 'blob' UNION ALL
           SELECT 'weight', 'decimal' UNION ALL
           SELECT 'answered_at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'answers'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'jobs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'jobs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE jobs ADD INDEX jobs_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
