-- Package actionsq uses the table actions as a queue of jobs on MySQL 8.4 and later.
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
-- Jobs are claimed by the strategy lock_update: the row whose key is the token is added when jobs are found, and not before (from=companion), and ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level token: every claim adds a row to claims and leaves its id in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its id.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes claims (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates actions_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       from=companion adds a row between finding jobs and marking them
--   lease_table  from=companion adds a row between finding jobs and marking them
--   hold         from=companion adds a row between finding jobs and marking them
--   partition    from=companion adds a row between finding jobs and marking them
--   returning    from=companion adds a row between finding jobs and marking them
--   block        from=companion adds a row between finding jobs and marking them
--   token        from=companion adds a row between finding jobs and marking them
-- * lock_update  the row whose key is the token is added when jobs are found, and not before (from=companion), and ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     from=companion adds a row between finding jobs and marking them
--   guarded      not needed: lock_update comes first
--   pop          from=companion adds a row between finding jobs and marking them
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* actionsq.Claim */
       id
FROM   actions IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim_batch.sql
-- claim: one row of claims for the rows that claim_lock.sql locked; claim.sql then writes its id to them
-- locks: nothing that others wait for
-- index: none; it reads nothing
-- isolation: read committed
-- arguments: 1: worker Holder
INSERT /* actionsq.Claim */ INTO claims
       (holder, made_at)
VALUES (?, UTC_TIMESTAMP(6) - INTERVAL 300 SECOND);

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token ClaimID, 2: list ID
UPDATE /* actionsq.Claim */ actions FORCE INDEX (PRIMARY)
SET    state = 'A',
       claimed = UTC_TIMESTAMP(0),
       claim_id = ?
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* actionsq.Claim */
       id, hook, CAST(claimed AS CHAR), claim_id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: claim_id as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
SELECT /* actionsq.Complete */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
UPDATE /* actionsq.Complete */ actions FORCE INDEX (PRIMARY)
SET    state = 'D'
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: claim_id as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
SELECT /* actionsq.Fail */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
UPDATE /* actionsq.Fail */ actions FORCE INDEX (PRIMARY)
SET    state = 'E'
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: claim_id as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
SELECT /* actionsq.Requeue */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
UPDATE /* actionsq.Requeue */ actions FORCE INDEX (PRIMARY)
SET    state = 'N',
       claimed = NULL,
       claim_id = 0
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: claim_id as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
SELECT /* actionsq.Extend */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
UPDATE /* actionsq.Extend */ actions FORCE INDEX (PRIMARY)
SET    claimed = UTC_TIMESTAMP(0)
WHERE  ((id, claim_id) IN ((?, ?)))
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* actionsq.Recover */ (
           SELECT id
           FROM   actions
           WHERE  state = 'A'
           AND    claimed <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN actions ON actions.id = picked.id
SET    state = 'N',
       claimed = NULL,
       claim_id = 0;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* actionsq.Redrive */ (
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN actions ON actions.id = picked.id
SET    state = 'N',
       claimed = NULL,
       claim_id = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, claimed) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ actions
FROM   (
           SELECT id
           FROM   actions
           WHERE  state = 'D'
           AND    claimed <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN actions ON actions.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id); it reads those that are not old enough as well, which one on (state, claimed) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* actionsq.Purge */ actions
FROM   (
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           AND    claimed <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN actions ON actions.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Hook
INSERT /* actionsq.Enqueue */ INTO actions
       (hook)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Hook
INSERT /* actionsq.EnqueueMany */ INTO actions
       (hook)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* actionsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* actionsq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'A' AND claimed <= UTC_TIMESTAMP(6) - INTERVAL 300 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'A' THEN claimed END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   actions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* actionsq.Backlog */
       count(*) AS ready
FROM   actions
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* actionsq.Peek */
       id, hook, claim_id
FROM   actions IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* actionsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8.4')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* actionsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'hook', 'varchar' UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'claimed', 'datetime' UNION ALL
           SELECT 'claim_id', 'bigint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'actions'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of claims
-- locks: none
SELECT /* actionsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'holder', 'varchar' UNION ALL
           SELECT 'made_at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'claims'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* actionsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'actions'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* actionsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'actions_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'actions'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE actions ADD INDEX actions_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
