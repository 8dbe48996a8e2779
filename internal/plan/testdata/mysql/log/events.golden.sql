-- Package eventsq uses the table events as a queue of jobs on MySQL 5.6 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in events_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- A row is taken when it was added 1 minute ago, and not before any in front of it. A row whose transaction takes longer may appear behind the mark, and is then never read: no transaction that adds rows may take longer than half of that, from its beginning to its end.
--
-- Before the package is used, schema/offset.sql creates the table events_offset, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps
--   lease_table  rows are only added, and nothing is claimed but what stands behind a mark
--   hold         MySQL 5.6 cannot pass over locked rows
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        MySQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* eventsq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= UTC_TIMESTAMP(6) THEN 1 ELSE 0 END,
       mark_id
FROM   events_offset
WHERE  consumer_group = ?;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local
INSERT /* eventsq.Claim */ IGNORE INTO events_offset
       (consumer_group, turn)
VALUES (?, 0);

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Claim */
       CASE WHEN created_at <= UTC_TIMESTAMP(6) - INTERVAL 60 SECOND THEN 1 ELSE 0 END, id,
       kind, CAST(created_at AS CHAR), body
FROM   events FORCE INDEX (`PRIMARY`)
ORDER  BY id
LIMIT  ?;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: new ID, 2: limit
SELECT /* eventsq.Claim */
       CASE WHEN created_at <= UTC_TIMESTAMP(6) - INTERVAL 60 SECOND THEN 1 ELSE 0 END, id,
       kind, CAST(created_at AS CHAR), body
FROM   events FORCE INDEX (`PRIMARY`)
WHERE  id > ?
ORDER  BY id
LIMIT  ?;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* eventsq.Claim */ events_offset
SET    token = ?,
       worker = ?,
       lease_till = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       passed = 0,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?
AND    turn = ?;

-- sql/complete.sql
-- complete: the next rows of the claim, to which the mark moves
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_id = ?,
       passed = ?,
       token = ?,
       turn = turn + 1
WHERE  consumer_group = ?
AND    token = ?
AND    passed = ?
AND    finished IS NULL;

-- sql/complete_lock.sql
-- complete: locks the row of the group, where rows are finished out of order
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Complete */ events_offset
SET    turn = turn + 1
WHERE  consumer_group = ?
AND    token = ?;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* eventsq.Complete */
       passed, finished
FROM   events_offset
WHERE  consumer_group = ?
AND    token = ?;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_id = ?,
       passed = ?,
       finished = ?,
       token = ?
WHERE  consumer_group = ?
AND    token = ?;

-- sql/complete_note.sql
-- complete: remembers finished rows behind one that is not
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local, 3: local
UPDATE /* eventsq.Complete */ events_offset
SET    finished = ?
WHERE  consumer_group = ?
AND    token = ?;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Requeue */ events_offset
SET    token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?
AND    token = ?;

-- sql/extend.sql
-- extend: the lease of the claim begins anew
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: lease, 2: local, 3: local
UPDATE /* eventsq.Extend */ events_offset
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       turn = turn + 1
WHERE  consumer_group = ?
AND    token = ?;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* eventsq.Rewind */ events_offset
SET    mark_id = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?;

-- sql/purge_mark.sql
-- purge: the lowest mark, none while a group has read nothing
-- locks: none
SELECT /* eventsq.Purge */
       mark_id
FROM   events_offset
WHERE  NOT EXISTS (SELECT 1 FROM events_offset WHERE mark_id IS NULL)
ORDER  BY mark_id
LIMIT  1;

-- sql/purge.sql
-- purge: rows that every group has passed
-- locks: the rows it deletes, until commit; waits for rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: new ID, 2: older, 3: limit
DELETE /* eventsq.Purge */ events
FROM   (
           SELECT id
           FROM   events
           WHERE  id < ?
           AND    created_at <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN events ON events.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Body
INSERT /* eventsq.Enqueue */ INTO events
       (kind, created_at, body)
VALUES (?, UTC_TIMESTAMP(6), ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Kind Body
INSERT /* eventsq.EnqueueMany */ INTO events
       (kind, created_at, body)
VALUES (?, UTC_TIMESTAMP(6), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* eventsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* eventsq.Stats */
       consumer_group,
       CASE WHEN events_offset.mark_id IS NULL THEN (SELECT count(*) FROM events) ELSE (SELECT count(*) FROM events WHERE events.id > events_offset.mark_id) END,
       CASE WHEN token IS NULL OR lease_till <= UTC_TIMESTAMP(6) THEN 0 ELSE 1 END,
       TIMESTAMPDIFF(MICROSECOND, (CASE WHEN events_offset.mark_id IS NULL THEN (SELECT min(events.created_at) FROM events) ELSE (SELECT min(events.created_at) FROM events WHERE events.id > events_offset.mark_id) END), UTC_TIMESTAMP(6)) / 1000000
FROM   events_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 5.6')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 50600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'created_at', 'datetime' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_offset.sql
-- verify: columns of events_offset
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'consumer_group' AS name, 'varchar' AS type UNION ALL
           SELECT 'mark_id', 'bigint unsigned' UNION ALL
           SELECT 'token', 'varchar' UNION ALL
           SELECT 'worker', 'varchar' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'passed', 'int' UNION ALL
           SELECT 'finished', 'longtext' UNION ALL
           SELECT 'turn', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events_offset'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* eventsq.Verify */
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
SELECT /* eventsq.Verify */
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
                      AND    table_name = 'events'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
