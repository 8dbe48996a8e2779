-- Package accountq uses the table mails as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, waiting for locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in account, at most as many run at once as this says: select most from accounts where id = {row}.account; a claim locks the row of accounts that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it waits for groups that another claims from at that moment, and leaves out those that are full then.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_account_ready.
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
-- * lock_update  ready rows are locked, waiting for locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      it reads ready rows without waiting for locks, and locked=wait is asked for
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (state, account, made, id)
-- isolation: read committed
-- arguments: 1: param account int32, 2: param account int32, 3: param account int32, 4: param account int32, 5: limit
SELECT /* accountq.Claim */
       id
FROM   mails
WHERE  state = 'new'
AND    account = ?
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = ?
               AND    other.state = 'busy')
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = ?
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = ?
               AND    other.state = 'new'
               AND    (other.made < mails.made OR other.made = mails.made AND other.id < mails.id))
ORDER  BY made, id
LIMIT  ?
FOR    UPDATE;

-- sql/claim_group.sql
-- claim: locks the groups of the rows that claim_lock.sql locked
-- locks: the row of accounts for each group, until commit
-- index: the key; account <=> account always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* accountq.Claim */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    (SELECT 1
               FROM   accounts
               WHERE  id = mails.account
               FOR    UPDATE) = 1
AND    account <=> account
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* accountq.Claim */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?))
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = mails.account
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = mails.account
               AND    other.state = 'new'
               AND    (other.made < mails.made OR other.made = mails.made AND other.id < mails.id));

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* accountq.Claim */ mails FORCE INDEX (PRIMARY)
SET    state = 'busy',
       till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  (id IN (?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* accountq.Claim */
       id, account, CAST(till AS CHAR), CAST(made AS CHAR)
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* accountq.Complete */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* accountq.Complete */ mails FORCE INDEX (PRIMARY)
SET    state = 'sent',
       till = NULL
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* accountq.Fail */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* accountq.Fail */ mails FORCE INDEX (PRIMARY)
SET    state = 'dead',
       till = NULL
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* accountq.Requeue */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* accountq.Requeue */ mails FORCE INDEX (PRIMARY)
SET    state = 'new',
       till = NULL
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
SELECT /* accountq.Extend */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Till
UPDATE /* accountq.Extend */ mails FORCE INDEX (PRIMARY)
SET    till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id, till) IN ((?, ?)))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* accountq.Extend */
       id, CAST(till AS CHAR)
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* accountq.Recover */ (
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

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* accountq.Redrive */ (
           SELECT id
           FROM   mails
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id
SET    state = 'new',
       till = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* accountq.Purge */ mails
FROM   (
           SELECT id
           FROM   mails
           WHERE  state = 'sent'
           AND    made <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, account, made, id); it reads those that are not old enough as well, which one on (state, made) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* accountq.Purge */ mails
FROM   (
           SELECT id
           FROM   mails
           WHERE  state = 'dead'
           AND    made <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Account
INSERT /* accountq.Enqueue */ INTO mails
       (account, made)
VALUES (?, UTC_TIMESTAMP(6));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Account
INSERT /* accountq.EnqueueMany */ INTO mails
       (account, made)
VALUES (?, UTC_TIMESTAMP(6));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* accountq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* accountq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'new' THEN made END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   mails;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same account is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param account int32
SELECT /* accountq.StatsOf */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'new' THEN made END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   mails
WHERE  account = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by account
-- locks: none
-- index: (state, account, made, id)
SELECT /* accountq.Backlog */
       account,
       count(*) AS ready,
       TIMESTAMPDIFF(MICROSECOND, min(made), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   mails
WHERE  state = 'new'
GROUP  BY account
ORDER  BY account;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, account, made, id)
-- isolation: read committed
-- arguments: 1: param account int32, 2: param account int32, 3: param account int32, 4: param account int32, 5: limit
SELECT /* accountq.Peek */
       id, account, CAST(made AS CHAR)
FROM   mails
WHERE  state = 'new'
AND    account = ?
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = ?
               AND    other.state = 'busy')
AND    coalesce((select most from accounts where id = mails.account), 0) > (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = ?
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   mails AS other
               WHERE  other.account = ?
               AND    other.state = 'new'
               AND    (other.made < mails.made OR other.made = mails.made AND other.id < mails.id))
ORDER  BY made, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* accountq.Verify */
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
SELECT /* accountq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'account', 'int' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'till', 'datetime' UNION ALL
           SELECT 'made', 'datetime'
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
SELECT /* accountq.Verify */
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
SELECT /* accountq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'mails_account_ready' AS name, 'state, account, made, id' AS columns, 'state, account, made' AS least
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Claim: who is before a row in its group, and which of them run; it also serves Recover: rows that somebody has, which are few
ALTER TABLE mails ADD INDEX mails_account_ready (state, account, made, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
