-- Package callsq uses the table calls as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_expired.
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
-- note: on enqueue, column "status" gets null as qgen:on says, not 'Failure' as qgen:status would
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "began", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: calls_campaign (campaign)
-- isolation: read committed
-- arguments: 1: param campaign int32, 2: limit
SELECT /* callsq.Claim */
       id, campaign, CAST(UTC_TIMESTAMP(0) AS CHAR)
FROM   calls FORCE INDEX (calls_campaign)
WHERE  (status is null or status not in ('Success', 'Placing', 'Ringing'))
AND    campaign = ?
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Began, 2: list ID
UPDATE /* callsq.Claim */ calls FORCE INDEX (PRIMARY)
SET    status = 'Placing',
       began = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* callsq.Complete */
       id
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing')
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* callsq.Complete */ calls FORCE INDEX (PRIMARY)
SET    status = 'Success'
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing');

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* callsq.Fail */
       id
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing')
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* callsq.Fail */ calls FORCE INDEX (PRIMARY)
SET    status = 'Failure',
       began = NULL
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing');

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* callsq.Requeue */
       id
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing')
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* callsq.Requeue */ calls FORCE INDEX (PRIMARY)
SET    status = 'Failure',
       began = NULL
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing');

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: began as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
SELECT /* callsq.Extend */
       id
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing')
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: began as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Began
UPDATE /* callsq.Extend */ calls FORCE INDEX (PRIMARY)
SET    began = UTC_TIMESTAMP(0)
WHERE  ((id, began) IN ((?, ?)))
AND    status IN ('Placing', 'Ringing');

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* callsq.Extend */
       id, CAST(began AS CHAR)
FROM   calls FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, began)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* callsq.Recover */ (
           SELECT id
           FROM   calls
           WHERE  status IN ('Placing', 'Ringing')
           AND    began <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN calls ON calls.id = picked.id
SET    status = 'Failure',
       began = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (status, began) would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* callsq.Purge */ calls
FROM   (
           SELECT id
           FROM   calls
           WHERE  status = 'Success'
           AND    began <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN calls ON calls.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Campaign
INSERT /* callsq.Enqueue */ INTO calls
       (campaign, status)
VALUES (?, NULL);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Campaign
INSERT /* callsq.EnqueueMany */ INTO calls
       (campaign, status)
VALUES (?, NULL);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* callsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
       count(CASE WHEN (status is null or status not in ('Success', 'Placing', 'Ringing')) THEN 1 END) AS ready,
       count(CASE WHEN status IN ('Placing', 'Ringing') THEN 1 END) AS running,
       count(CASE WHEN status = 'Success' THEN 1 END) AS done,
       count(CASE WHEN status IN ('Placing', 'Ringing') AND began <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status IN ('Placing', 'Ringing') THEN began END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   calls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same campaign is for
-- locks: none
-- index: calls_campaign (campaign)
-- arguments: 1: param campaign int32
SELECT /* callsq.StatsOf */
       count(CASE WHEN (status is null or status not in ('Success', 'Placing', 'Ringing')) THEN 1 END) AS ready,
       count(CASE WHEN status IN ('Placing', 'Ringing') THEN 1 END) AS running,
       count(CASE WHEN status = 'Success' THEN 1 END) AS done,
       count(CASE WHEN status IN ('Placing', 'Ringing') AND began <= UTC_TIMESTAMP(6) - INTERVAL 3600 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status IN ('Placing', 'Ringing') THEN began END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   calls
WHERE  campaign = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by campaign
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Backlog */
       campaign,
       count(*) AS ready
FROM   calls USE INDEX FOR GROUP BY ()
WHERE  (status is null or status not in ('Success', 'Placing', 'Ringing'))
GROUP  BY campaign
ORDER  BY campaign;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: calls_campaign (campaign)
-- isolation: read committed
-- arguments: 1: param campaign int32, 2: limit
SELECT /* callsq.Peek */
       id, campaign
FROM   calls FORCE INDEX (calls_campaign)
WHERE  (status is null or status not in ('Success', 'Placing', 'Ringing'))
AND    campaign = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
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
SELECT /* callsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'campaign', 'int' UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'began', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'calls'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* callsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'calls'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* callsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'calls_campaign' AS name, '' AS columns, '' AS least UNION ALL
           SELECT 'calls_expired', 'status, began', 'status, began'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'calls'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: calls_campaign serves already

-- serves Recover: claims that ran out, among the rows that somebody has
ALTER TABLE calls ADD INDEX calls_expired (status, began), ALGORITHM=INPLACE, LOCK=NONE;
