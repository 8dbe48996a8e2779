-- Package titlesq uses the table titles as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates titles_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no index holds column title whole, which is tinytext, so that ready rows are sorted, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: column "title" is tinytext, which no index holds whole: claims read more rows than they take, or sort them; a type with a length, such as varchar(40), would mend that

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: ahead, 2: limit
SELECT /* titlesq.Claim */
       titles.id, titles.title,
       CAST(UNIX_TIMESTAMP(GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))) * 1000000 AS SIGNED)
FROM   (
           SELECT id AS candidate_1, title AS candidate_2
           FROM   titles
           WHERE  state = 'r'
           ORDER  BY title, id
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN titles FORCE INDEX (PRIMARY) ON titles.id = candidate.candidate_1
WHERE  titles.state = 'r'
ORDER  BY candidate.candidate_2, candidate.candidate_1
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* titlesq.Claim */ titles FORCE INDEX (PRIMARY)
SET    state = 'x',
       till = FROM_UNIXTIME(? * 0.000001)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* titlesq.Complete */
       id
FROM   titles FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* titlesq.Complete */ titles FORCE INDEX (PRIMARY)
SET    state = 'd',
       till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* titlesq.Fail */
       id
FROM   titles FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* titlesq.Fail */ titles FORCE INDEX (PRIMARY)
SET    state = 'r',
       till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* titlesq.Requeue */
       id
FROM   titles FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* titlesq.Requeue */ titles FORCE INDEX (PRIMARY)
SET    state = 'r',
       till = NULL
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* titlesq.Extend */
       id
FROM   titles FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* titlesq.Extend */ titles FORCE INDEX (PRIMARY)
SET    till = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((id, till) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'x';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* titlesq.Extend */
       id, CAST(UNIX_TIMESTAMP(till) * 1000000 AS SIGNED)
FROM   titles FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* titlesq.Recover */ (
           SELECT id
           FROM   titles
           WHERE  state = 'x'
           AND    till <= NOW(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN titles ON titles.id = picked.id
SET    state = 'r',
       till = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* titlesq.Purge */ titles
FROM   (
           SELECT id
           FROM   titles
           WHERE  state = 'd'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN titles ON titles.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Title
INSERT /* titlesq.Enqueue */ INTO titles
       (id, title)
VALUES (?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list ID Title
INSERT /* titlesq.EnqueueMany */ INTO titles
       (id, title)
VALUES (?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* titlesq.Stats */
       count(CASE WHEN state = 'r' THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running,
       count(CASE WHEN state = 'd' THEN 1 END) AS done,
       count(CASE WHEN state = 'x' AND till <= NOW(6) THEN 1 END) AS expired
FROM   titles;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state)
SELECT /* titlesq.Backlog */
       count(*) AS ready
FROM   titles
WHERE  state = 'r';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state); the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: limit
SELECT /* titlesq.Peek */
       id, title
FROM   titles
WHERE  state = 'r'
ORDER  BY title, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* titlesq.Verify */
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
SELECT /* titlesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'title', 'tinytext' UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'till', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'titles'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* titlesq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'titles'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* titlesq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'titles_ready' AS name, 'state' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'titles'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows, which are then sorted: no index gives their order; it also serves Recover: rows that somebody has, which are few
ALTER TABLE titles ADD INDEX titles_ready (state), ALGORITHM=INPLACE, LOCK=NONE;
