-- Package drawnq uses the table drawn as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim and what that wrote to holder. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second and both claims wrote the same to holder.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates drawn_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: on claim, column "holder" gets [left(sha2(uuid(), 256), 20)] as qgen:on says, not worker as qgen:worker would
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "held_at", which counts whole seconds, and what qgen:on writes to column "holder": two claims within one second look alike only where that is the same
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, holder, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* drawnq.Claim */
       id
FROM   drawn IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* drawnq.Claim */ drawn FORCE INDEX (PRIMARY)
SET    holder = (left(sha2(uuid(), 256), 20)),
       held_at = UNIX_TIMESTAMP()
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* drawnq.Claim */
       id, holder, held_at
FROM   drawn FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* drawnq.Complete */
       id
FROM   drawn FORCE INDEX (PRIMARY)
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> ''
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* drawnq.Complete */ drawn FORCE INDEX (PRIMARY)
SET    state = 'complete'
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> '';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* drawnq.Fail */
       id
FROM   drawn FORCE INDEX (PRIMARY)
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> ''
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* drawnq.Fail */ drawn FORCE INDEX (PRIMARY)
SET    holder = '',
       held_at = 0
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> '';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* drawnq.Requeue */
       id
FROM   drawn FORCE INDEX (PRIMARY)
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> ''
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* drawnq.Requeue */ drawn FORCE INDEX (PRIMARY)
SET    holder = '',
       held_at = 0
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> '';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* drawnq.Extend */
       id
FROM   drawn FORCE INDEX (PRIMARY)
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> ''
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* drawnq.Extend */ drawn FORCE INDEX (PRIMARY)
SET    held_at = UNIX_TIMESTAMP()
WHERE  ((id, held_at, holder) IN ((?, ?, ?)))
AND    state = 'waiting'
AND    holder <> '';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* drawnq.Extend */
       id, held_at
FROM   drawn FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, holder, id), which finds the rows that somebody has by state, holder
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* drawnq.Recover */ (
           SELECT id
           FROM   drawn
           WHERE  state = 'waiting'
           AND    holder <> ''
           AND    held_at <= FLOOR(UNIX_TIMESTAMP() - 300)
           AND    held_at > 0
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN drawn ON drawn.id = picked.id
SET    holder = '',
       held_at = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, holder, id); it reads those that are not old enough as well, which one on (state, held_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* drawnq.Purge */ drawn
FROM   (
           SELECT id
           FROM   drawn
           WHERE  state = 'complete'
           AND    held_at <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN drawn ON drawn.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* drawnq.Enqueue */ INTO drawn
       (state, holder)
VALUES ('waiting', '');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* drawnq.Stats */
       count(CASE WHEN state = 'waiting' AND holder = '' THEN 1 END) AS ready,
       count(CASE WHEN state = 'waiting' AND holder <> '' THEN 1 END) AS running,
       count(CASE WHEN state = 'complete' THEN 1 END) AS done,
       count(CASE WHEN state = 'waiting' AND holder <> '' AND held_at <= FLOOR(UNIX_TIMESTAMP() - 300) AND held_at > 0 THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN state = 'waiting' AND holder <> '' THEN held_at END) AS SIGNED) AS oldest_running
FROM   drawn;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, holder, id)
SELECT /* drawnq.Backlog */
       count(*) AS ready
FROM   drawn
WHERE  state = 'waiting'
AND    holder = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, holder, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* drawnq.Peek */
       id, holder, held_at
FROM   drawn IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* drawnq.Verify */
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
SELECT /* drawnq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'holder', 'varchar' UNION ALL
           SELECT 'held_at', 'bigint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'drawn'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* drawnq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'drawn'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* drawnq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'drawn_ready' AS name, 'state, holder, id' AS columns, 'state, holder' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'drawn'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE drawn ADD INDEX drawn_ready (state, holder, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
