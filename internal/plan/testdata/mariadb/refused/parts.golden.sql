-- Package partsq uses the table parts as a queue of jobs on MariaDB 10.11 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parts_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    the table has a running state, which keeps workers apart; the shard only narrows the claim
--   returning    MariaDB 10.11 cannot return the rows of an UPDATE
--   block        rows that are read and passed over stay locked, and other claims may take them
--   token        rows that are read and passed over stay locked, and other claims may take them
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the shard narrows every claim to the rows of one instance

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: shards, 2: shards, 3: shards, 4: shard, 5: ahead, 6: shards, 7: shards, 8: shards, 9: shard, 10: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* partsq.Claim */
       parts.id, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR)
FROM   (
           SELECT id AS candidate_1
           FROM   parts IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  state = 'new'
           AND    MOD(MOD(COALESCE(id, 0), ?) + ?, ?) = ?
           ORDER  BY id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN parts FORCE INDEX (PRIMARY) ON parts.id = candidate.candidate_1
WHERE  parts.state = 'new'
AND    MOD(MOD(COALESCE(parts.id, 0), ?) + ?, ?) = ?
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* partsq.Claim */ parts FORCE INDEX (PRIMARY)
SET    state = 'busy',
       till = ?
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* partsq.Complete */
       id
FROM   parts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
DELETE /* partsq.Complete */ parts
FROM   parts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* partsq.Fail */
       id
FROM   parts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* partsq.Fail */ parts FORCE INDEX (PRIMARY)
SET    state = 'new',
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* partsq.Requeue */
       id
FROM   parts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* partsq.Requeue */ parts FORCE INDEX (PRIMARY)
SET    state = 'new',
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* partsq.Extend */
       id
FROM   parts FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* partsq.Extend */ parts FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* partsq.Extend */
       id, CAST(till AS CHAR)
FROM   parts FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* partsq.Recover */ (
           SELECT id
           FROM   parts
           WHERE  state = 'busy'
           AND    till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN parts ON parts.id = picked.id
SET    state = 'new',
       till = NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* partsq.Enqueue */ INTO parts
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'busy' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   parts;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: shards, 2: shards, 3: shards, 4: shard, 5: limit
SELECT /* partsq.Peek */
       id
FROM   parts IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
AND    MOD(MOD(COALESCE(id, 0), ?) + ?, ?) = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.11')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 101100;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* partsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'till', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'parts'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* partsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'parts'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* partsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'parts_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'parts'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; it also serves Recover: rows that somebody has, which are few
ALTER TABLE parts ADD INDEX parts_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
