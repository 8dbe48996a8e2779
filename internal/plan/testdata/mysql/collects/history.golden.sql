-- Package historyq uses the table events as a queue of jobs on MySQL 8.4 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
--
-- Besides the queue's own rows it writes old_events (Claim), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
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
-- note: rows are taken as they came, by column "id"
-- note: there is no Enqueue: the queue "events" adds the rows that a claim takes here

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, place, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: ahead, 2: ahead, 3: ahead, 4: limit
SELECT /* historyq.Claim */
       events.id, events.place, events.`until`
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'complete'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'skipped'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'failed'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN events FORCE INDEX (PRIMARY) ON events.id = candidate.candidate_1
WHERE  events.state IN ('complete', 'skipped', 'failed')
ORDER  BY candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key; place <=> place always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* historyq.Claim */ events
FROM   events FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    place <=> place;

-- sql/claim_move.sql
-- claim: the rows that claim_lock.sql locked go to old_events before claim.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* historyq.Claim */ INTO old_events
       (id, place, state, `until`)
SELECT held.id, held.place, held.state, held.`until`
FROM   events AS held FORCE INDEX (PRIMARY)
WHERE  (held.id IN (?));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (state, place, id)
SELECT /* historyq.Stats */
       count(*) AS ready
FROM   events
WHERE  state IN ('complete', 'skipped', 'failed');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, place, id); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit, 2: limit, 3: limit, 4: limit
SELECT /* historyq.Peek */
       events.id, events.place, events.`until`
FROM   (
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'complete'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'skipped'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
           UNION  ALL
           SELECT candidate_1
           FROM   (
                      SELECT id AS candidate_1
                      FROM   events IGNORE INDEX FOR ORDER BY (PRIMARY)
                      WHERE  state = 'failed'
                      ORDER  BY id
                      LIMIT  ?
                  ) AS candidate
       ) AS candidate
       STRAIGHT_JOIN events FORCE INDEX (PRIMARY) ON events.id = candidate.candidate_1
ORDER  BY candidate.candidate_1
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* historyq.Verify */
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
SELECT /* historyq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'place', 'int unsigned' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'until', 'bigint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of old_events
-- locks: none
SELECT /* historyq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'place', 'int unsigned' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'until', 'bigint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'old_events'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* historyq.Verify */
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
SELECT /* historyq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'events_ready' AS name, 'state, place, id' AS columns, 'state, place' AS least
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

-- serves Claim: ready rows, which are then sorted
-- eventsq advises the same
ALTER TABLE events ADD INDEX events_ready (state, place, id), ALGORITHM=INPLACE, LOCK=NONE;
