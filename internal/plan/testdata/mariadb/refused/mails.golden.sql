-- Package mailsq uses the table mails as a queue of jobs on MariaDB 10.11 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.11 cannot return the rows of an UPDATE
--   block        no column can hold the key of a batch, by which a block reads it back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (state, prio, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Claim */
       id, CAST(due_at AS CHAR), prio,
       CAST(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND AS CHAR)
FROM   mails
WHERE  state = 'new'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY prio, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Till, 2: list ID
UPDATE /* mailsq.Claim */ mails FORCE INDEX (PRIMARY)
SET    state = 'busy',
       till = ?
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Complete */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
DELETE /* mailsq.Complete */ mails
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Fail */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Till
UPDATE /* mailsq.Fail */ mails FORCE INDEX (PRIMARY)
SET    state = 'new',
       due_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Requeue */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Till
UPDATE /* mailsq.Requeue */ mails FORCE INDEX (PRIMARY)
SET    state = 'new',
       due_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE due_at END,
       till = NULL
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* mailsq.Extend */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND till = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* mailsq.Extend */ mails FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND till = ?))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Extend */
       id, CAST(till AS CHAR)
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: (state, prio, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ (
           SELECT id
           FROM   mails
           WHERE  state = 'busy'
           AND    till <= UTC_TIMESTAMP(6)
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id
SET    state = 'new',
       till = NULL;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Prio
INSERT /* mailsq.Enqueue */ INTO mails
       (due_at, prio)
VALUES (coalesce(?, UTC_TIMESTAMP(6)), ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list DueAt Prio
INSERT /* mailsq.EnqueueMany */ INTO mails
       (due_at, prio)
VALUES (coalesce(?, UTC_TIMESTAMP(6)), ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* mailsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN state = 'new' AND due_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'new' AND due_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'busy' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'new' AND due_at <= UTC_TIMESTAMP(6) THEN due_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, prio, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, CAST(due_at AS CHAR), prio
FROM   mails
WHERE  state = 'new'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY prio, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.11')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 101100;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'due_at', 'datetime' UNION ALL
           SELECT 'prio', 'int' UNION ALL
           SELECT 'till', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'mails'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'mails'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'mails_ready' AS name, 'state, prio, id' AS columns, 'state, prio' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'mails'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE mails ADD INDEX mails_ready (state, prio, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
