-- Package visitsq uses the table visits as a queue of jobs on MySQL 8.4 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table visits_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in visits_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- Rows must appear in the order of id: one at a time may add rows. A row that appears behind the mark is never read.
--
-- Before the package is used, schema/offset.sql creates the table visits_offset, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table visits_offset keeps
--   lease_table  rows are only added, and nothing is claimed but what stands behind a mark
--   hold         not needed: offset comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        MySQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: enqueue=absent leaves a job out where a row is like it in mark (unique key mark)

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* visitsq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= UTC_TIMESTAMP(6) THEN 1 ELSE 0 END,
       mark_id
FROM   visits_offset
WHERE  consumer_group = ?;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local
INSERT /* visitsq.Claim */ IGNORE INTO visits_offset
       (consumer_group, turn)
VALUES (?, 0);

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* visitsq.Claim */
       id, mark
FROM   visits FORCE INDEX (`PRIMARY`)
ORDER  BY id
LIMIT  ?;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: new ID, 2: limit
SELECT /* visitsq.Claim */
       id, mark
FROM   visits FORCE INDEX (`PRIMARY`)
WHERE  id > ?
ORDER  BY id
LIMIT  ?;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* visitsq.Claim */ visits_offset
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
UPDATE /* visitsq.Complete */ visits_offset
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
UPDATE /* visitsq.Complete */ visits_offset
SET    turn = turn + 1
WHERE  consumer_group = ?
AND    token = ?;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* visitsq.Complete */
       passed, finished
FROM   visits_offset
WHERE  consumer_group = ?
AND    token = ?;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* visitsq.Complete */ visits_offset
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
UPDATE /* visitsq.Complete */ visits_offset
SET    finished = ?
WHERE  consumer_group = ?
AND    token = ?;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* visitsq.Requeue */ visits_offset
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
UPDATE /* visitsq.Extend */ visits_offset
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       turn = turn + 1
WHERE  consumer_group = ?
AND    token = ?;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* visitsq.Rewind */ visits_offset
SET    mark_id = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it fails with the error of that key, which is told from others
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- arguments: 1: new Mark
INSERT /* visitsq.Enqueue */ INTO visits
       (mark)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given, all or none: where a row stands in the way of one by a unique key, each half is tried by itself
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- arguments: 1: new_list Mark
INSERT /* visitsq.EnqueueMany */ INTO visits
       (mark)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* visitsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* visitsq.Stats */
       consumer_group,
       CASE WHEN visits_offset.mark_id IS NULL THEN (SELECT count(*) FROM visits) ELSE (SELECT count(*) FROM visits WHERE visits.id > visits_offset.mark_id) END,
       CASE WHEN token IS NULL OR lease_till <= UTC_TIMESTAMP(6) THEN 0 ELSE 1 END
FROM   visits_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* visitsq.Verify */
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
SELECT /* visitsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'mark', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'visits'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_offset.sql
-- verify: columns of visits_offset
-- locks: none
SELECT /* visitsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'consumer_group' AS name, 'varchar' AS type UNION ALL
           SELECT 'mark_id', 'bigint' UNION ALL
           SELECT 'token', 'varchar' UNION ALL
           SELECT 'worker', 'varchar' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'passed', 'int' UNION ALL
           SELECT 'finished', 'longtext' UNION ALL
           SELECT 'turn', 'bigint'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'visits_offset'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* visitsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'visits'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* visitsq.Verify */
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
                      AND    table_name = 'visits'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already
