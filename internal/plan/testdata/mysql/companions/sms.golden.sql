-- Package smsq uses the table outbox as a queue of jobs on MySQL 5.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (sentitems)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (dead)
-- 	running  --Requeue---------> ready
-- 	running  --Partial---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (dead), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes fired (Claim, Requeue, Extend, Recover, Partial); sentitems (Complete, Fail, Recover); outbox_multipart (Complete, Fail, Recover); totals (Complete); tries (Fail); dead (Fail, Recover); outbox (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates outbox_sms_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 5.6 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no index can give this order, and rows that are sorted are all locked first
--   lock_update  MySQL 5.6 cannot pass over locked rows
--   advisory     MySQL has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          a taken row is gone, so it must be asked for

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, priority DESC, inserted_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Claim */
       id
FROM   outbox
WHERE  state = 'new'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY priority DESC, inserted_at, id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* smsq.Claim */
       id
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'new'
AND    due_at <= UTC_TIMESTAMP(6)
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Sender, 3: list ID
UPDATE /* smsq.Claim */ outbox FORCE INDEX (PRIMARY)
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       state = 'busy',
       token = ?,
       sender = ?,
       retries = retries + 1
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* smsq.Claim */
       id, CAST(inserted_at AS CHAR), CAST(due_at AS CHAR), CAST(lease_till AS CHAR),
       token, retries, priority, number_to, last_error, body
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/claim_insert_fired.sql
-- claim: inserts rows into fired for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* smsq.Claim */ INTO fired
       (token, outbox_id, sender, at)
SELECT held.token, held.id, held.sender, UTC_TIMESTAMP(6)
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* smsq.Complete */
       id
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete_move.sql
-- complete: the rows that complete_lock.sql locked go to sentitems before complete.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Answer, 2: list ID Token
INSERT /* smsq.Complete */ INTO sentitems
       (id, sent_at, number_to, status, answer)
SELECT held.id, UTC_TIMESTAMP(6), held.number_to, 'SendingOK',
       CASE WHEN held.id = ? THEN ? END
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.token = ?));

-- sql/complete_delete_outbox_multipart.sql
-- complete: deletes rows from outbox_multipart for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* smsq.Complete */ outbox_multipart
FROM   outbox AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN outbox_multipart ON outbox_multipart.outbox_id = held.id
WHERE  ((held.id = ? AND held.token = ?));

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with number_to, state
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* smsq.Complete */ (
           SELECT held.number_to AS of_number_to,
                  count(*) AS jobs
           FROM   outbox AS held FORCE INDEX (PRIMARY)
           WHERE  ((held.id = ? AND held.token = ?))
           GROUP  BY held.number_to
       ) AS shared
       STRAIGHT_JOIN totals ON totals.number_to = shared.of_number_to
                     AND totals.state = 'open'
SET    totals.sent = (totals.sent + shared.jobs),
       totals.sent_at = UTC_TIMESTAMP(6),
       totals.state = 'busy';

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* smsq.Complete */ outbox
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* smsq.Fail */
       id
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry_insert_tries.sql
-- retry: inserts rows into tries for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Token
INSERT /* smsq.Fail */ INTO tries
       (outbox_id, cause, at, tried, tries)
SELECT held.id, ?, UTC_TIMESTAMP(6), TRUE, held.retries
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.token = ?));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: list ID Token
UPDATE /* smsq.Fail */ outbox FORCE INDEX (PRIMARY)
SET    due_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL,
       last_error = ?
WHERE  ((id = ? AND token = ?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* smsq.Fail */
       id
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to dead before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Token
INSERT /* smsq.Fail */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, ?, held.body
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.token = ?));

-- sql/fail_delete_outbox_multipart.sql
-- fail: deletes rows from outbox_multipart for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* smsq.Fail */ outbox_multipart
FROM   outbox AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN outbox_multipart ON outbox_multipart.outbox_id = held.id
WHERE  ((held.id = ? AND held.token = ?));

-- sql/fail_insert_outbox.sql
-- fail: inserts rows into outbox for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
INSERT /* smsq.Fail */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.token = ?))
AND    (held.priority > 5);

-- sql/fail_insert_sentitems.sql
-- fail: inserts rows into sentitems for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: list ID Token
INSERT /* smsq.Fail */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, UTC_TIMESTAMP(6), held.number_to, 'SendingError', ?
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.token = ?));

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
DELETE /* smsq.Fail */ outbox
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* smsq.Requeue */
       id
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue_insert_fired.sql
-- requeue: inserts rows into fired for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
INSERT /* smsq.Requeue */ INTO fired
       (token, outbox_id, at)
SELECT held.token, held.id, UTC_TIMESTAMP(6)
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.token = ?));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Token
UPDATE /* smsq.Requeue */ outbox FORCE INDEX (PRIMARY)
SET    due_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE due_at END,
       lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL,
       retries = retries - 1
WHERE  ((id = ? AND token = ?))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* smsq.Extend */
       id
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend_update_fired.sql
-- extend: updates rows of fired for the rows that extend_lock.sql locked, before extend.sql
-- locks: the rows it writes, until commit
-- index: the key; of fired one that begins with token, outbox_id
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* smsq.Extend */ outbox AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN fired ON fired.token = held.token
                     AND fired.outbox_id = held.id
SET    fired.at = UTC_TIMESTAMP(6)
WHERE  ((held.id = ? AND held.token = ?));

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* smsq.Extend */ outbox FORCE INDEX (PRIMARY)
SET    lease_till = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id = ? AND token = ?))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* smsq.Extend */
       id, CAST(lease_till AS CHAR)
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/outcome_partial_lock.sql
-- outcome_partial: locks the rows of jobs whose claims are still theirs, which outcome_partial.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
SELECT /* smsq.Partial */
       id
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/outcome_partial_insert_fired.sql
-- outcome_partial: inserts rows into fired for the rows that outcome_partial_lock.sql locked, before outcome_partial.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
INSERT /* smsq.Partial */ INTO fired
       (token, outbox_id, at)
SELECT held.token, held.id, UTC_TIMESTAMP(6)
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.token = ?));

-- sql/outcome_partial.sql
-- outcome_partial: running to ready
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Token
UPDATE /* smsq.Partial */ outbox FORCE INDEX (PRIMARY)
SET    lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL,
       retries = retries - 1
WHERE  ((id = ? AND token = ?))
AND    state = 'busy';

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (state, priority DESC, inserted_at, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Recover */
       id
FROM   outbox
WHERE  state = 'busy'
AND    retries < 3
AND    lease_till <= UTC_TIMESTAMP(6)
LIMIT  ?
FOR    UPDATE;

-- sql/recover_delete_fired.sql
-- recover: deletes rows from fired for the rows that recover_lock.sql locked, before recover.sql
-- locks: the rows it writes, until commit
-- index: the key; of fired one that begins with token, outbox_id
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* smsq.Recover */ fired
FROM   outbox AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN fired ON fired.token = held.token
                     AND fired.outbox_id = held.id
WHERE  (held.id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* smsq.Recover */ outbox FORCE INDEX (PRIMARY)
SET    lease_till = NULL,
       state = 'new',
       token = NULL,
       sender = NULL
WHERE  (id = ?)
AND    state = 'busy'
AND    retries < 3;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (state, priority DESC, inserted_at, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Recover */
       id
FROM   outbox
WHERE  state = 'busy'
AND    retries >= 3
AND    lease_till <= UTC_TIMESTAMP(6)
LIMIT  ?
FOR    UPDATE;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to dead before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* smsq.Recover */ INTO dead
       (id, state, retries, number_to, last_error, body)
SELECT held.id, 'error', held.retries, held.number_to, 'the claim ran out', held.body
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/recover_failed_delete_outbox_multipart.sql
-- recover_failed: deletes rows from outbox_multipart for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of outbox_multipart one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* smsq.Recover */ outbox_multipart
FROM   outbox AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN outbox_multipart ON outbox_multipart.outbox_id = held.id
WHERE  (held.id = ?);

-- sql/recover_failed_insert_outbox.sql
-- recover_failed: inserts rows into outbox for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* smsq.Recover */ INTO outbox
       (number_to, body, priority)
SELECT held.number_to, held.body, 0
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?)
AND    (held.priority > 5);

-- sql/recover_failed_insert_sentitems.sql
-- recover_failed: inserts rows into sentitems for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* smsq.Recover */ INTO sentitems
       (id, sent_at, number_to, status, cause)
SELECT held.id, UTC_TIMESTAMP(6), held.number_to, 'SendingError', 'the claim ran out'
FROM   outbox AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* smsq.Recover */ outbox
FROM   outbox FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'busy'
AND    retries >= 3;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Priority, 3: new NumberTo, 4: new Body
INSERT /* smsq.Enqueue */ INTO outbox
       (inserted_at, due_at, priority, number_to, body)
VALUES (UTC_TIMESTAMP(6), coalesce(?, UTC_TIMESTAMP(6)), coalesce(?, 0), ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list DueAt Priority NumberTo Body
INSERT /* smsq.EnqueueMany */ INTO outbox
       (inserted_at, due_at, priority, number_to, body)
VALUES (UTC_TIMESTAMP(6), coalesce(?, UTC_TIMESTAMP(6)), coalesce(?, 0), ?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* smsq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* smsq.Stats */
       count(CASE WHEN state = 'new' AND due_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'new' AND due_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'busy' AND lease_till <= UTC_TIMESTAMP(6) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'new' AND due_at <= UTC_TIMESTAMP(6) THEN inserted_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   outbox;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, priority DESC, inserted_at, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* smsq.Peek */
       id, CAST(inserted_at AS CHAR), CAST(due_at AS CHAR), retries, priority, number_to,
       last_error, body
FROM   outbox
WHERE  state = 'new'
AND    due_at <= UTC_TIMESTAMP(6)
ORDER  BY priority DESC, inserted_at, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* smsq.Verify */
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
SELECT /* smsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'inserted_at', 'datetime' UNION ALL
           SELECT 'due_at', 'datetime' UNION ALL
           SELECT 'lease_till', 'datetime' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'token', 'char' UNION ALL
           SELECT 'sender', 'varchar' UNION ALL
           SELECT 'retries', 'int' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'number_to', 'varchar' UNION ALL
           SELECT 'last_error', 'varchar' UNION ALL
           SELECT 'answer', 'text' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'outbox'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of fired
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'token' AS name, 'char' AS type UNION ALL
           SELECT 'outbox_id', 'bigint' UNION ALL
           SELECT 'sender', 'varchar' UNION ALL
           SELECT 'at', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'fired'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of sentitems
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'sent_at', 'datetime' UNION ALL
           SELECT 'number_to', 'varchar' UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'answer', 'text' UNION ALL
           SELECT 'cause', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'sentitems'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of outbox_multipart
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'outbox_id' AS name, 'bigint' AS type
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'outbox_multipart'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also4.sql
-- verify: columns of totals
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'sent' AS name, 'int' AS type UNION ALL
           SELECT 'sent_at', 'datetime' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'number_to', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'totals'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also5.sql
-- verify: columns of tries
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'outbox_id' AS name, 'bigint' AS type UNION ALL
           SELECT 'cause', 'varchar' UNION ALL
           SELECT 'at', 'datetime' UNION ALL
           SELECT 'tried', 'tinyint' UNION ALL
           SELECT 'tries', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'tries'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also6.sql
-- verify: columns of dead
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'retries', 'int' UNION ALL
           SELECT 'number_to', 'varchar' UNION ALL
           SELECT 'last_error', 'varchar' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'dead'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'outbox'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* smsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'outbox_sms_ready' AS name, 'state, priority desc, inserted_at, id' AS columns, 'state, priority desc, inserted_at' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'outbox'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order from MySQL 8 on; before that no index keeps a falling order, and they are sorted; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE outbox ADD INDEX outbox_sms_ready (state, priority DESC, inserted_at, id), ALGORITHM=INPLACE, LOCK=NONE;
