-- Package linesq uses the table lines_ as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- The engine locks the table while each of its statements runs, and a caller's transaction cannot take back what they wrote. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table is of the engine MyISAM, which has no transactions and locks no rows: what is written stays written, whatever becomes of the transaction of the caller's. The package works over InnoDB as well, and Verify takes that; generated again from such a DDL it settles many jobs at once.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates lines__ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  the engine MyISAM has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: token comes first
--   pop          the engine MyISAM has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=absent leaves a job out where a row is like it in line (unique key line)

-- sql/claim.sql
-- claim: ready to running
-- locks: the table, while the statement runs
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Fence
UPDATE /* linesq.Claim */ (
           SELECT id
           FROM   lines_ IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN lines_ ON lines_.id = picked.id
SET    state = 'busy',
       fence = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: (state, id); it reads others as well
-- isolation: read committed
-- arguments: 1: token Fence
SELECT /* linesq.Claim */
       id, line, fence
FROM   lines_
WHERE  fence = ?
AND    state = 'busy';

-- sql/complete_held.sql
-- complete: reads whether the claim is still the caller's, where complete.sql changed nothing
-- fence: fence as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fence
SELECT /* linesq.Complete */
       id
FROM   lines_ FORCE INDEX (PRIMARY)
WHERE  ((id, fence) IN ((?, ?)))
AND    state = 'busy';

-- sql/complete.sql
-- complete: running to done
-- fence: fence as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fence
UPDATE /* linesq.Complete */ lines_ FORCE INDEX (PRIMARY)
SET    state = 'read'
WHERE  ((id, fence) IN ((?, ?)))
AND    state = 'busy';

-- sql/retry_held.sql
-- retry: reads whether the claim is still the caller's, where retry.sql changed nothing
-- fence: fence as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fence
SELECT /* linesq.Fail */
       id
FROM   lines_ FORCE INDEX (PRIMARY)
WHERE  ((id, fence) IN ((?, ?)))
AND    state = 'busy';

-- sql/retry.sql
-- retry: running to ready
-- fence: fence as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fence
UPDATE /* linesq.Fail */ lines_ FORCE INDEX (PRIMARY)
SET    state = 'new',
       fence = NULL
WHERE  ((id, fence) IN ((?, ?)))
AND    state = 'busy';

-- sql/requeue_held.sql
-- requeue: reads whether the claim is still the caller's, where requeue.sql changed nothing
-- fence: fence as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fence
SELECT /* linesq.Requeue */
       id
FROM   lines_ FORCE INDEX (PRIMARY)
WHERE  ((id, fence) IN ((?, ?)))
AND    state = 'busy';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: fence as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Fence
UPDATE /* linesq.Requeue */ lines_ FORCE INDEX (PRIMARY)
SET    state = 'new',
       fence = NULL
WHERE  ((id, fence) IN ((?, ?)))
AND    state = 'busy';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the table, while the statement runs
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* linesq.Purge */ lines_
FROM   (
           SELECT id
           FROM   lines_
           WHERE  state = 'read'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN lines_ ON lines_.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it fails with the error of that key, which is told from others
-- locks: the table, while the statement runs
-- arguments: 1: new Line
INSERT /* linesq.Enqueue */ INTO lines_
       (line)
VALUES (?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* linesq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'read' THEN 1 END) AS done
FROM   lines_;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* linesq.Backlog */
       count(*) AS ready
FROM   lines_
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* linesq.Peek */
       id, line
FROM   lines_ IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* linesq.Verify */
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
SELECT /* linesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'line', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'fence', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'lines_'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* linesq.Verify */
       'binlog_format is STATEMENT, which refuses writes to an InnoDB table at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'lines_'
AND    have.engine = 'InnoDB'
AND    @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* linesq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'lines__ready' AS name, 'state, id' AS columns, 'state, id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'lines_'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE lines_ ADD INDEX lines__ready USING BTREE (state, id);
