-- Package loadsq uses the table loads as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates loads_ready and loads_like.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        several values of state mean ready, so that rows are sorted, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: column "till" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=absent leaves a job out where a row is like it in hash, of those that are ready or running; producers that do not add jobs by Enqueue may still add one beside it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: ahead, 2: ahead, 3: limit
SELECT /* loadsq.Claim */
       loads.id, loads.hash, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR)
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   loads IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'new'
                      AND    (till <= UTC_TIMESTAMP(6) OR state = 'new')
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   loads IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'busy'
                      AND    (till <= UTC_TIMESTAMP(6) OR state = 'new')
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN loads FORCE INDEX (PRIMARY) ON loads.id = candidate.candidate_1
WHERE  loads.state IN ('new', 'busy')
AND    (loads.till <= UTC_TIMESTAMP(6) OR loads.state = 'new')
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* loadsq.Claim */ loads FORCE INDEX (PRIMARY)
SET    state = 'busy',
       till = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* loadsq.Complete */
       id
FROM   loads FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* loadsq.Complete */ loads FORCE INDEX (PRIMARY)
SET    state = 'done',
       till = NULL
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* loadsq.Fail */
       id
FROM   loads FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* loadsq.Fail */ loads FORCE INDEX (PRIMARY)
SET    state = 'new',
       till = NULL
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* loadsq.Requeue */
       id
FROM   loads FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* loadsq.Requeue */ loads FORCE INDEX (PRIMARY)
SET    state = 'new',
       till = NULL
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* loadsq.Extend */
       id
FROM   loads FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* loadsq.Extend */ loads FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* loadsq.Extend */
       id, CAST(till AS CHAR)
FROM   loads FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* loadsq.Purge */ loads
FROM   (
           SELECT id
           FROM   loads
           WHERE  state = 'done'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN loads ON loads.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in hash, of those that are ready or running: then it adds none
-- locks: the new row, until commit; what it reads to see that no row is like it, for reading
-- index: (hash)
-- isolation: repeatable read
-- arguments: 1: new Hash, 2: new Hash
INSERT /* loadsq.Enqueue */ INTO loads
       (hash, state)
SELECT ?, 'new'
FROM   DUAL
WHERE  NOT EXISTS (
           SELECT 1
           FROM   loads
           WHERE  hash = ?
           AND    state IN ('new', 'busy')
           AND    (till IS NOT NULL OR state = 'new'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* loadsq.Stats */
       count(CASE WHEN state IN ('new', 'busy') AND (till <= UTC_TIMESTAMP(6) OR state = 'new') THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' AND till > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'busy' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   loads;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id); it reads others as well
SELECT /* loadsq.Backlog */
       count(*) AS ready
FROM   loads
WHERE  state IN ('new', 'busy')
AND    (till <= UTC_TIMESTAMP(6) OR state = 'new');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: limit, 3: limit
SELECT /* loadsq.Peek */
       loads.id, loads.hash
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   loads IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'new'
                      AND    (till <= UTC_TIMESTAMP(6) OR state = 'new')
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   loads IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'busy'
                      AND    (till <= UTC_TIMESTAMP(6) OR state = 'new')
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN loads FORCE INDEX (PRIMARY) ON loads.id = candidate.candidate_1
ORDER  BY candidate.candidate_1
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* loadsq.Verify */
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
SELECT /* loadsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'hash', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'till', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'loads'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* loadsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'loads'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* loadsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'loads_ready' AS name, 'state, id' AS columns, 'state' AS least UNION ALL
           SELECT 'loads_like', 'hash', 'hash'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'loads'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing
ALTER TABLE loads ADD INDEX loads_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;

-- serves Enqueue: the rows that are like a new job
ALTER TABLE loads ADD INDEX loads_like (hash), ALGORITHM=INPLACE, LOCK=NONE;
