-- Package sendsq uses the table sends as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until Recover, which goes by the workers that are alive, makes them ready again.
--
-- Who claims is told by an id of the table hosts: every worker says its own with WithWorker.
--
-- Besides the queue's own rows it writes persons (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates sends_ready.
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
-- note: the DDL has no table "persons", so its columns are not checked
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: column host holds an id of hosts, so every worker needs WithWorker: what claims record without it is no id of that table
-- note: the DDL has no column told_at of persons: it gets the present as a time without zone, as clock: utc says; add the CREATE TABLE to schema if it keeps time in another way
-- note: the DDL has no column again_at of persons: it gets the present as a time without zone, as clock: utc says; add the CREATE TABLE to schema if it keeps time in another way

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: worker Host, 2: limit
SELECT /* sendsq.Claim */
       id, beat, ?
FROM   sends IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 1
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Host, 2: list ID
UPDATE /* sendsq.Claim */ sends FORCE INDEX (PRIMARY)
SET    status = 2,
       host = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: host as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Host
SELECT /* sendsq.Complete */
       id
FROM   sends FORCE INDEX (PRIMARY)
WHERE  ((id, host) IN ((?, ?)))
AND    status = 2
FOR    UPDATE;

-- sql/complete_update_persons.sql
-- complete: updates rows of persons for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of persons one that begins with send_id
-- isolation: read committed
-- arguments: 1: list ID Host
UPDATE /* sendsq.Complete */ sends AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN persons ON persons.send_id = held.id
SET    persons.told_at = (UTC_TIMESTAMP(6)),
       persons.again_at = (UTC_TIMESTAMP(6) + interval 1 day),
       persons.epoch = (unix_timestamp(NOW(6)))
WHERE  ((held.id, held.host) IN ((?, ?)));

-- sql/complete.sql
-- complete: running to done
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Host
UPDATE /* sendsq.Complete */ sends FORCE INDEX (PRIMARY)
SET    status = 3
WHERE  ((id, host) IN ((?, ?)))
AND    status = 2;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: host as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Host
SELECT /* sendsq.Fail */
       id
FROM   sends FORCE INDEX (PRIMARY)
WHERE  ((id, host) IN ((?, ?)))
AND    status = 2
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Host
UPDATE /* sendsq.Fail */ sends FORCE INDEX (PRIMARY)
SET    status = 1,
       host = NULL
WHERE  ((id, host) IN ((?, ?)))
AND    status = 2;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: host as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Host
SELECT /* sendsq.Requeue */
       id
FROM   sends FORCE INDEX (PRIMARY)
WHERE  ((id, host) IN ((?, ?)))
AND    status = 2
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Host
UPDATE /* sendsq.Requeue */ sends FORCE INDEX (PRIMARY)
SET    status = 1,
       host = NULL
WHERE  ((id, host) IN ((?, ?)))
AND    status = 2;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sendsq.Recover */ (
           SELECT id
           FROM   sends
           WHERE  status = 2
           AND    (host IS NOT NULL AND NOT EXISTS (SELECT 1 FROM hosts worker_row WHERE worker_row.id = sends.host AND (beat > UTC_TIMESTAMP(6) - interval 5 minute and up = 1)))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN sends ON sends.id = picked.id
SET    status = 1,
       host = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, beat) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* sendsq.Purge */ sends
FROM   (
           SELECT id
           FROM   sends
           WHERE  status = 3
           AND    beat <= FLOOR(UNIX_TIMESTAMP() - ?)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN sends ON sends.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* sendsq.Enqueue */ INTO sends
       (beat)
VALUES (UNIX_TIMESTAMP());

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sendsq.Stats */
       count(CASE WHEN status = 1 THEN 1 END) AS ready,
       count(CASE WHEN status = 2 THEN 1 END) AS running,
       count(CASE WHEN status = 3 THEN 1 END) AS done,
       count(CASE WHEN status = 2 AND (host IS NOT NULL AND NOT EXISTS (SELECT 1 FROM hosts worker_row WHERE worker_row.id = sends.host AND (beat > UTC_TIMESTAMP(6) - interval 5 minute and up = 1))) THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN status = 1 THEN beat END) AS SIGNED) AS oldest_ready
FROM   sends;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
SELECT /* sendsq.Backlog */
       count(*) AS ready,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(beat) AS SIGNED) AS oldest_ready
FROM   sends
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* sendsq.Peek */
       id, beat
FROM   sends IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 1
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sendsq.Verify */
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
SELECT /* sendsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'beat', 'int' UNION ALL
           SELECT 'status', 'int' UNION ALL
           SELECT 'host', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'sends'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* sendsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'sends'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sendsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'sends_ready' AS name, 'status, id' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'sends'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has
ALTER TABLE sends ADD INDEX sends_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
