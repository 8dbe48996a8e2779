-- Package allq uses the table events as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready again
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_retime_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: a row whose column "lease_id" is null is taken by no claim; any=null lets it suit everyone
-- note: a row whose column "event_type" is null is taken by no claim; any=null lets it suit everyone
-- note: no order is said: rows are taken in the order of the key, id
-- note: warning: a job that is done leaves a row as ready ones are, so the next claim takes it again: write a value of its own for done=, or cycle on qgen:queue, if jobs never end

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (lease_id); the ready rows are then sorted
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: param_list leaseID []string, 2: param eventType string, 3: ahead, 4: param_list leaseID []string, 5: param eventType string, 6: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* allq.Claim */
       events.id, events.lease_id, events.event_type
FROM   (
           SELECT id AS candidate_1
           FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  status IN ('UNDONE', 'DONE')
           AND    lease_id IN (?)
           AND    event_type = ?
           ORDER  BY id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN events FORCE INDEX (PRIMARY) ON events.id = candidate.candidate_1
WHERE  events.status IN ('UNDONE', 'DONE')
AND    events.lease_id IN (?)
AND    events.event_type = ?
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given timeValue *time.Time, 2: list ID
UPDATE /* allq.Claim */ events FORCE INDEX (PRIMARY)
SET    at = ?,
       status = 'UNDONE'
WHERE  (id = ?);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new LeaseID, 3: new EventType
INSERT /* allq.Enqueue */ INTO events
       (id, lease_id, event_type, status)
VALUES (?, ?, ?, 'UNDONE');

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID LeaseID EventType
INSERT /* allq.EnqueueMany */ INTO events
       (id, lease_id, event_type, status)
VALUES (?, ?, ?, 'UNDONE');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* allq.Stats */
       count(*) AS ready
FROM   events
WHERE  status IN ('UNDONE', 'DONE');

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same lease_id and event_type is for
-- locks: none
-- index: that of the foreign key (lease_id); it reads others as well
-- arguments: 1: param_list leaseID []string, 2: param eventType string
SELECT /* allq.StatsOf */
       count(*) AS ready
FROM   events
WHERE  status IN ('UNDONE', 'DONE')
AND    lease_id IN (?)
AND    event_type = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by lease_id and event_type
-- locks: none
-- index: none; it reads the whole table
SELECT /* allq.Backlog */
       lease_id,
       event_type,
       count(*) AS ready
FROM   events USE INDEX FOR GROUP BY ()
WHERE  status IN ('UNDONE', 'DONE')
GROUP  BY lease_id, event_type
ORDER  BY lease_id, event_type;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (lease_id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param_list leaseID []string, 2: param eventType string, 3: limit
SELECT /* allq.Peek */
       id, lease_id, event_type
FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status IN ('UNDONE', 'DONE')
AND    lease_id IN (?)
AND    event_type = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* allq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* allq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'varchar' AS type UNION ALL
           SELECT 'lease_id', 'varchar' UNION ALL
           SELECT 'event_type', 'varchar' UNION ALL
           SELECT 'at', 'datetime' UNION ALL
           SELECT 'status', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* allq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'events'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* allq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'events_retime_ready' AS name, 'lease_id' AS columns, 'lease_id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'events'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: the rows of each value that is asked for, which are then sorted; rows that are not ready are read and passed over; rows of another event_type are read and passed over; it takes the place of the index of the foreign key (lease_id), which the server drops once another begins with its columns, so that no statement names it
-- retimeq advises the same
ALTER TABLE events ADD INDEX events_retime_ready (lease_id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
