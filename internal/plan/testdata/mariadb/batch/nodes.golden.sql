-- Package nodesq uses the table actions as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken.
--
-- The fence is at level token: every claim adds a row to claims and leaves its id in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its id.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. The nodes of the cluster do not see each other's locks: of two claims that took the same rows, the later is undone when it commits, and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- A node may not know yet what was committed on another. Settle a job on the node that claimed it, or in a session with wsrep_sync_wait = 7: elsewhere a claim that is still good may be reported as ErrLost, and nothing is done to the job. Connect with interpolateParams=true: Galera can undo a transaction while it prepares a statement, and then neither that statement nor COMMIT tells, so that a job would be given out twice. In other sessions nothing is done in a transaction; the error is an ErrSchema.
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
--   lock_update  a node of Galera can crash when it passes over locked rows that another node writes
--   advisory     from=companion adds a row between finding jobs and marking them
-- * guarded      the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken
--   pop          from=companion adds a row between finding jobs and marking them
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* nodesq.Claim */
       id
FROM   actions IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* nodesq.Claim */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'N'
FOR    UPDATE;

-- sql/claim_batch.sql
-- claim: one row of claims for the rows that claim_lock.sql locked; claim.sql then writes its id to them
-- locks: nothing that others wait for
-- index: none; it reads nothing
-- isolation: read committed
INSERT /* nodesq.Claim */ INTO claims
       (made_at)
VALUES (UTC_TIMESTAMP(0));

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token ClaimID, 2: list ID
UPDATE /* nodesq.Claim */ actions FORCE INDEX (PRIMARY)
SET    state = 'A',
       claim_id = ?
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* nodesq.Claim */
       id, claim_id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: claim_id as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
SELECT /* nodesq.Complete */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND claim_id = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
UPDATE /* nodesq.Complete */ actions FORCE INDEX (PRIMARY)
SET    state = 'D'
WHERE  ((id = ? AND claim_id = ?))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: claim_id as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
SELECT /* nodesq.Fail */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND claim_id = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
UPDATE /* nodesq.Fail */ actions FORCE INDEX (PRIMARY)
SET    state = 'E'
WHERE  ((id = ? AND claim_id = ?))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: claim_id as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
SELECT /* nodesq.Requeue */
       id
FROM   actions FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND claim_id = ?))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimID
UPDATE /* nodesq.Requeue */ actions FORCE INDEX (PRIMARY)
SET    state = 'N',
       claim_id = 0
WHERE  ((id = ? AND claim_id = ?))
AND    state = 'A';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* nodesq.Redrive */ (
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN actions ON actions.id = picked.id
SET    state = 'N',
       claim_id = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* nodesq.Purge */ actions
FROM   (
           SELECT id
           FROM   actions
           WHERE  state = 'D'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN actions ON actions.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* nodesq.Purge */ actions
FROM   (
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN actions ON actions.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* nodesq.Enqueue */ INTO actions
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* nodesq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed
FROM   actions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* nodesq.Backlog */
       count(*) AS ready
FROM   actions
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* nodesq.Peek */
       id, claim_id
FROM   actions IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* nodesq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* nodesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'claim_id', 'bigint'
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
SELECT /* nodesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
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
SELECT /* nodesq.Verify */
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

-- sql/verify_prepared.sql
-- verify: prepared
-- locks: none
-- arguments: 1: limit
SELECT /* nodesq.Verify */
       'statements with arguments are prepared, and Galera can undo a transaction meanwhile and not tell; say interpolateParams=true in the DSN'
FROM   information_schema.processlist
WHERE  id = CONNECTION_ID()
AND    command = 'Execute'
LIMIT  ?;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* nodesq.Verify */
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- actionsq advises the same
ALTER TABLE actions ADD INDEX actions_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
