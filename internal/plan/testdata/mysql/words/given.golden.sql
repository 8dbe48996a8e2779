-- Package givenq uses the table given as a queue of jobs on MySQL 8 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Partial---------> ready
-- 	running  --NotWanted-------> failed
-- 	running  --Skipped---------> done
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue and Partial take the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates given_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: column "code" stays as it is when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue, the outcome partial and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* givenq.Claim */
       id, CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR), tries + 1
FROM   given IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: given host *string, 3: list ID
UPDATE /* givenq.Claim */ given FORCE INDEX (PRIMARY)
SET    state = 'A',
       till = ?,
       tries = tries + 1,
       host = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.Complete */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Answer, 2: list ID Response, 3: list ID Tries
UPDATE /* givenq.Complete */ given FORCE INDEX (PRIMARY)
SET    state = 'D',
       till = NULL,
       answer = CASE WHEN id = ? THEN ? END,
       response = CASE WHEN id = ? THEN (?) END
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.Fail */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given code *int32, 2: list ID Tries
UPDATE /* givenq.Fail */ given FORCE INDEX (PRIMARY)
SET    state = 'N',
       till = NULL,
       code = ?
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.Fail */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given code *int32, 2: list ID Tries
UPDATE /* givenq.Fail */ given FORCE INDEX (PRIMARY)
SET    state = 'E',
       till = NULL,
       code = ?
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.Requeue */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given code *int32, 2: list ID Tries
UPDATE /* givenq.Requeue */ given FORCE INDEX (PRIMARY)
SET    state = 'N',
       till = NULL,
       tries = tries - 1,
       code = ?
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.Extend */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* givenq.Extend */ given FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* givenq.Extend */
       id, CAST(till AS CHAR)
FROM   given FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/outcome_partial_lock.sql
-- outcome_partial: locks the rows of jobs whose claims are still theirs, which outcome_partial.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.Partial */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/outcome_partial.sql
-- outcome_partial: running to ready
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* givenq.Partial */ given FORCE INDEX (PRIMARY)
SET    state = 'N',
       till = NULL,
       tries = tries - 1,
       answer = 'in part',
       code = 7
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/outcome_not_wanted_lock.sql
-- outcome_not_wanted: locks the rows of jobs whose claims are still theirs, which outcome_not_wanted.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.NotWanted */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/outcome_not_wanted.sql
-- outcome_not_wanted: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given why *int32, 2: list ID Tries
UPDATE /* givenq.NotWanted */ given FORCE INDEX (PRIMARY)
SET    state = 'E',
       till = NULL,
       code = ?
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/outcome_skipped_lock.sql
-- outcome_skipped: locks the rows of jobs whose claims are still theirs, which outcome_skipped.sql then writes
-- fence: tries as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
SELECT /* givenq.Skipped */
       id
FROM   given FORCE INDEX (PRIMARY)
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A'
FOR    UPDATE;

-- sql/outcome_skipped.sql
-- outcome_skipped: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Tries
UPDATE /* givenq.Skipped */ given FORCE INDEX (PRIMARY)
SET    state = 'D',
       till = NULL
WHERE  ((id, tries) IN ((?, ?)))
AND    state = 'A';

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit, 2: given sweeper *string
UPDATE /* givenq.Recover */ (
           SELECT id
           FROM   given
           WHERE  state = 'A'
           AND    tries < 3
           AND    till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN given ON given.id = picked.id
SET    state = 'N',
       till = NULL,
       who = ?;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit, 2: given sweeper *string
UPDATE /* givenq.Recover */ (
           SELECT id
           FROM   given
           WHERE  state = 'A'
           AND    tries >= 3
           AND    till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN given ON given.id = picked.id
SET    state = 'E',
       till = NULL,
       who = ?;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* givenq.Redrive */ (
           SELECT id
           FROM   given
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN given ON given.id = picked.id
SET    state = 'N',
       till = NULL,
       tries = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* givenq.Purge */ given
FROM   (
           SELECT id
           FROM   given
           WHERE  state = 'D'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN given ON given.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* givenq.Purge */ given
FROM   (
           SELECT id
           FROM   given
           WHERE  state = 'E'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN given ON given.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* givenq.Enqueue */ INTO given
       ()
VALUES ();

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* givenq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done,
       count(CASE WHEN state = 'E' THEN 1 END) AS failed,
       count(CASE WHEN state = 'A' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   given;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* givenq.Backlog */
       count(*) AS ready
FROM   given
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* givenq.Peek */
       id, tries
FROM   given IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* givenq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* givenq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'till', 'datetime' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'answer', 'varchar' UNION ALL
           SELECT 'response', 'int' UNION ALL
           SELECT 'code', 'int' UNION ALL
           SELECT 'host', 'varchar' UNION ALL
           SELECT 'who', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'given'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* givenq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'given'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* givenq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'given_ready' AS name, 'state, id' AS columns, 'state' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'given'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
ALTER TABLE given ADD INDEX given_ready (state, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
