-- Package waitingq uses the tables waiting and active as a queue of jobs on MariaDB 11.8 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to active, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates active_waiting_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to active, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the unique index handle lets no two rows have one token: every claim leaves a fresh value in each row

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then adds to active
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitingq.Claim */
       id
FROM   waiting FORCE INDEX (`PRIMARY`)
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, a row of active for each of the rows that claim_lock.sql locked
-- locks: the rows it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* waitingq.Claim */ INTO active
       (id, body, handle, taken)
SELECT held.id, held.body, LOWER(HEX(RANDOM_BYTES(16))), UTC_TIMESTAMP(6)
FROM   waiting AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* waitingq.Claim */
       id, body, handle, CAST(taken AS CHAR)
FROM   active FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to active
-- locks: the rows it deletes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* waitingq.Claim */ waiting
FROM   waiting FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    body <=> body;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* waitingq.Complete */
       id
FROM   active FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    body <=> body
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Handle
DELETE /* waitingq.Complete */ active
FROM   active FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    body <=> body;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* waitingq.Fail */
       id
FROM   active FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    body <=> body
FOR    UPDATE;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to waiting before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
INSERT /* waitingq.Fail */ INTO waiting
       (id, body)
SELECT held.id, held.body
FROM   active AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.handle = ?));

-- sql/retry.sql
-- retry: running to ready
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Handle
DELETE /* waitingq.Fail */ active
FROM   active FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    body <=> body;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* waitingq.Requeue */
       id
FROM   active FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    body <=> body
FOR    UPDATE;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to waiting before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
INSERT /* waitingq.Requeue */ INTO waiting
       (id, body)
SELECT held.id, held.body
FROM   active AS held FORCE INDEX (PRIMARY)
WHERE  ((held.id = ? AND held.handle = ?));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Handle
DELETE /* waitingq.Requeue */ active
FROM   active FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    body <=> body;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: handle as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Handle
SELECT /* waitingq.Extend */
       id
FROM   active FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND handle = ?))
AND    body <=> body
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: handle as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Handle
UPDATE /* waitingq.Extend */ active FORCE INDEX (PRIMARY)
SET    taken = UTC_TIMESTAMP(6)
WHERE  ((id = ? AND handle = ?));

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (taken)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: limit, 2: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* waitingq.Recover */
       active.id
FROM   (
           SELECT id AS candidate_1
           FROM   active
           WHERE  taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN active FORCE INDEX (PRIMARY) ON active.id = candidate.candidate_1
WHERE  active.taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to waiting before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
INSERT /* waitingq.Recover */ INTO waiting
       (id, body)
SELECT held.id, held.body
FROM   active AS held FORCE INDEX (PRIMARY)
WHERE  (held.id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; body <=> body always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
DELETE /* waitingq.Recover */ active
FROM   active FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    body <=> body;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* waitingq.Enqueue */ INTO waiting
       (body)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body
INSERT /* waitingq.EnqueueMany */ INTO waiting
       (body)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* waitingq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* waitingq.Stats */
       ready,
       running,
       expired,
       oldest_running
FROM   (
           SELECT count(*) AS ready
           FROM   waiting
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(CASE WHEN taken <= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND THEN 1 END) AS expired,
                  TIMESTAMPDIFF(MICROSECOND, min(taken), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
           FROM   active
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitingq.Peek */
       id, body
FROM   waiting FORCE INDEX (`PRIMARY`)
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitingq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 11.8')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 110800;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitingq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'body', 'text' UNION ALL
           SELECT 'handle', 'char' UNION ALL
           SELECT 'taken', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'active'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_ready.sql
-- verify: columns of waiting
-- locks: none
SELECT /* waitingq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'waiting'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_kind_ready.sql
-- verify: kind of waiting
-- locks: none
SELECT /* waitingq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'waiting'
AND    have.engine <> 'InnoDB';

-- sql/verify_index_ready.sql
-- verify: index of waiting
-- locks: none
SELECT /* waitingq.Verify */
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
                      AND    table_name = 'waiting'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* waitingq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'active'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitingq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'active_waiting_expired' AS name, 'taken' AS columns, 'taken' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'active'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already

-- serves Recover: claims that ran out
ALTER TABLE active ADD INDEX active_waiting_expired (taken), ALGORITHM=INPLACE, LOCK=NONE;
