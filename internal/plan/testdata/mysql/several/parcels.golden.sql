-- Package parcelsq uses the table parcels as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parcels_oldparcels_ready.
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
-- note: no order is said: rows are taken in the order of the key, site, number
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, held, site, number)
-- isolation: read committed
-- arguments: 1: ahead, 2: ahead, 3: ahead, 4: ahead, 5: limit
SELECT /* parcelsq.Claim */
       parcels.site, parcels.number
FROM   (
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 0
                      AND    held IS NULL
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 0
                      AND    held = 0
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 1
                      AND    held IS NULL
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 1
                      AND    held = 0
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN parcels FORCE INDEX (PRIMARY) ON parcels.site = candidate.candidate_1
                     AND parcels.number = candidate.candidate_2
WHERE  parcels.state IN (0, 1)
AND    (parcels.held IS NULL OR parcels.held = 0)
ORDER  BY candidate.candidate_1, candidate.candidate_2
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token Mark, 2: list Site Number
UPDATE /* parcelsq.Claim */ parcels FORCE INDEX (PRIMARY)
SET    state = 2,
       mark = ?
WHERE  ((site, number) IN ((?, ?)));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site Number
SELECT /* parcelsq.Claim */
       site, number, mark
FROM   parcels FORCE INDEX (PRIMARY)
WHERE  ((site, number) IN ((?, ?)));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site Number Mark
SELECT /* parcelsq.Complete */
       site, number
FROM   parcels FORCE INDEX (PRIMARY)
WHERE  ((site, number, mark) IN ((?, ?, ?)))
AND    state = 2
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site Number Mark
UPDATE /* parcelsq.Complete */ parcels FORCE INDEX (PRIMARY)
SET    state = 3
WHERE  ((site, number, mark) IN ((?, ?, ?)))
AND    state = 2;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site Number Mark
SELECT /* parcelsq.Fail */
       site, number
FROM   parcels FORCE INDEX (PRIMARY)
WHERE  ((site, number, mark) IN ((?, ?, ?)))
AND    state = 2
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site Number Mark
UPDATE /* parcelsq.Fail */ parcels FORCE INDEX (PRIMARY)
SET    state = 0,
       mark = NULL
WHERE  ((site, number, mark) IN ((?, ?, ?)))
AND    state = 2;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site Number Mark
SELECT /* parcelsq.Requeue */
       site, number
FROM   parcels FORCE INDEX (PRIMARY)
WHERE  ((site, number, mark) IN ((?, ?, ?)))
AND    state = 2
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site Number Mark
UPDATE /* parcelsq.Requeue */ parcels FORCE INDEX (PRIMARY)
SET    state = 0,
       mark = NULL
WHERE  ((site, number, mark) IN ((?, ?, ?)))
AND    state = 2;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, held, site, number)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* parcelsq.Purge */ parcels
FROM   (
           SELECT site, number
           FROM   parcels
           WHERE  state = 3
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN parcels ON parcels.site = picked.site
                               AND    parcels.number = picked.number;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new Number
INSERT /* parcelsq.Enqueue */ INTO parcels
       (site, number, state)
VALUES (?, ?, 0);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Site Number
INSERT /* parcelsq.EnqueueMany */ INTO parcels
       (site, number, state)
VALUES (?, ?, 0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* parcelsq.Stats */
       count(CASE WHEN state IN (0, 1) AND (held IS NULL OR held = 0) THEN 1 END) AS ready,
       count(CASE WHEN state = 2 THEN 1 END) AS running,
       count(CASE WHEN state = 3 THEN 1 END) AS done
FROM   parcels;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, held, site, number); it reads others as well
SELECT /* parcelsq.Backlog */
       count(*) AS ready
FROM   parcels
WHERE  state IN (0, 1)
AND    (held IS NULL OR held = 0);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, held, site, number)
-- isolation: read committed
-- arguments: 1: limit, 2: limit, 3: limit, 4: limit, 5: limit
SELECT /* parcelsq.Peek */
       parcels.site, parcels.number
FROM   (
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 0
                      AND    held IS NULL
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 0
                      AND    held = 0
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 1
                      AND    held IS NULL
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1, candidate_2
           FROM   (
                      SELECT site AS candidate_1, number AS candidate_2
                      FROM   parcels IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 1
                      AND    held = 0
                      ORDER  BY site, number
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN parcels FORCE INDEX (PRIMARY) ON parcels.site = candidate.candidate_1
                     AND parcels.number = candidate.candidate_2
ORDER  BY candidate.candidate_1, candidate.candidate_2
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* parcelsq.Verify */
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
SELECT /* parcelsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'site' AS name, 'int' AS type UNION ALL
           SELECT 'number', 'int' UNION ALL
           SELECT 'state', 'int' UNION ALL
           SELECT 'held', 'int' UNION ALL
           SELECT 'mark', 'char'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'parcels'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* parcelsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'parcels'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* parcelsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'parcels_oldparcels_ready' AS name, 'state, held, site, number' AS columns, 'state, held' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'parcels'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing
-- oldparcelsq advises the same
ALTER TABLE parcels ADD INDEX parcels_oldparcels_ready (state, held, site, number), ALGORITHM=INPLACE, LOCK=NONE;
