-- Package guardedq uses the table messages as a queue of jobs on MariaDB 11.8 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy guarded: strategy=guarded is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=guarded is asked for
--   lease_table  strategy=guarded is asked for
--   hold         strategy=guarded is asked for
--   partition    strategy=guarded is asked for
--   returning    strategy=guarded is asked for
--   block        strategy=guarded is asked for
--   token        strategy=guarded is asked for
--   lock_update  strategy=guarded is asked for
--   advisory     strategy=guarded is asked for
-- * guarded      strategy=guarded is asked for
--   pop          strategy=guarded is asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "taken" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index message_handle lets no two rows have one token: every claim leaves a fresh value in each row

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* guardedq.Claim */
       id
FROM   messages FORCE INDEX (`PRIMARY`)
WHERE  (taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND OR taken IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* guardedq.Claim */
       id
FROM   messages FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND OR taken IS NULL)
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* guardedq.Claim */ messages FORCE INDEX (PRIMARY)
SET    handle = LOWER(HEX(RANDOM_BYTES(16))),
       taken = UTC_TIMESTAMP(6)
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* guardedq.Claim */
       id, handle, CAST(taken AS CHAR), body
FROM   messages FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* guardedq.Complete */
       id
FROM   messages FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
DELETE /* guardedq.Complete */ messages
FROM   messages FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* guardedq.Fail */
       id
FROM   messages FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* guardedq.Fail */ messages FORCE INDEX (PRIMARY)
SET    handle = NULL,
       taken = NULL
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* guardedq.Requeue */
       id
FROM   messages FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* guardedq.Requeue */ messages FORCE INDEX (PRIMARY)
SET    handle = NULL,
       taken = NULL
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* guardedq.Extend */
       id
FROM   messages FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* guardedq.Extend */ messages FORCE INDEX (PRIMARY)
SET    taken = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND handle = ?))
AND    taken IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* guardedq.Enqueue */ INTO messages
       (body)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body
INSERT /* guardedq.EnqueueMany */ INTO messages
       (body)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* guardedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* guardedq.Stats */
       count(CASE WHEN (taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND OR taken IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN taken IS NOT NULL AND taken > UTC_TIMESTAMP(6) - INTERVAL 30 SECOND THEN 1 END) AS running,
       count(CASE WHEN taken IS NOT NULL AND taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN taken IS NOT NULL AND taken > UTC_TIMESTAMP(6) - INTERVAL 30 SECOND THEN taken END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   messages;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* guardedq.Peek */
       id, body
FROM   messages FORCE INDEX (`PRIMARY`)
WHERE  (taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND OR taken IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* guardedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 11.8')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 110800;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* guardedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'handle', 'char' UNION ALL
           SELECT 'taken', 'datetime' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'messages'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* guardedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'messages'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* guardedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'messages'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
