-- Package addedq uses the table added as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- A job never ends: Complete makes it ready again, due after the time that the row adds to ran_at. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        no column can hold the key of a batch, by which a block reads it back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "ran_at" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once where its wait_s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* addedq.Claim */
       id, ran_at, FLOOR(UNIX_TIMESTAMP() + 300), wait_s
FROM   added FORCE INDEX (`PRIMARY`)
WHERE  (till <= UNIX_TIMESTAMP() OR till IS NULL)
AND    (ran_at <= FLOOR(UNIX_TIMESTAMP() - wait_s) OR ran_at IS NULL)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* addedq.Claim */ added FORCE INDEX (PRIMARY)
SET    till = ?
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* addedq.Complete */
       id
FROM   added FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* addedq.Complete */ added FORCE INDEX (PRIMARY)
SET    ran_at = UNIX_TIMESTAMP(),
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* addedq.Fail */
       id
FROM   added FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* addedq.Fail */ added FORCE INDEX (PRIMARY)
SET    ran_at = UNIX_TIMESTAMP(),
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* addedq.Requeue */
       id
FROM   added FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* addedq.Requeue */ added FORCE INDEX (PRIMARY)
SET    till = NULL
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* addedq.Extend */
       id
FROM   added FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* addedq.Extend */ added FORCE INDEX (PRIMARY)
SET    till = FLOOR(UNIX_TIMESTAMP() + 300)
WHERE  ((id = ? AND till = ?))
AND    till IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* addedq.Extend */
       id, till
FROM   added FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RanAt, 2: new WaitS
INSERT /* addedq.Enqueue */ INTO added
       (ran_at, wait_s)
VALUES (?, coalesce(?, 60));

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list RanAt WaitS
INSERT /* addedq.EnqueueMany */ INTO added
       (ran_at, wait_s)
VALUES (?, coalesce(?, 60));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* addedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* addedq.Stats */
       count(CASE WHEN (till <= UNIX_TIMESTAMP() OR till IS NULL) AND (ran_at <= FLOOR(UNIX_TIMESTAMP() - wait_s) OR ran_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN till IS NOT NULL AND till > UNIX_TIMESTAMP() THEN 1 END) AS running,
       count(CASE WHEN ran_at > FLOOR(UNIX_TIMESTAMP() - wait_s) THEN 1 END) AS `delayed`,
       count(CASE WHEN till IS NOT NULL AND till <= UNIX_TIMESTAMP() THEN 1 END) AS expired
FROM   added;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* addedq.Peek */
       id, ran_at, wait_s
FROM   added FORCE INDEX (`PRIMARY`)
WHERE  (till <= UNIX_TIMESTAMP() OR till IS NULL)
AND    (ran_at <= FLOOR(UNIX_TIMESTAMP() - wait_s) OR ran_at IS NULL)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* addedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* addedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'ran_at', 'bigint' UNION ALL
           SELECT 'till', 'bigint' UNION ALL
           SELECT 'wait_s', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'added'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* addedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'added'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* addedq.Verify */
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
                      AND    table_name = 'added'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: PRIMARY serves already
