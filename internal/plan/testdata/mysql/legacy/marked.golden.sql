-- Package markedq uses the table jobs as a queue of jobs on MySQL 8.4 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Beside the old program of legacy_claim a job may be done twice. After it has taken a row: it writes owner = :me, since = NOW(), and a claim still takes the row: it asks for status = 'new' only. Let a claim ask for that, too: ready_if: "owner IS NULL" in qgen.yaml.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_by_id_ready.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- old program: exclude each other: no
-- old program: after a claim: yes: a claim writes owner = {worker}, and the old program asks under the row's lock for owner IS NULL
-- old program: after the old one: no: it writes owner = :me, since = NOW(), and a claim still takes the row: it asks for status = 'new' only
-- old program: rows of the old one: are ready
-- old program: rows of a claim: do not look free to it: owner IS NULL is false of them
-- old program: what to do: Let a claim ask for that, too: ready_if: "owner IS NULL" in qgen.yaml.

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: worker Owner, 2: limit
SELECT /* markedq.Claim */
       id, ?, CAST(UTC_TIMESTAMP(6) AS CHAR), body
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'new'
ORDER  BY id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Owner, 2: taken Since, 3: list ID
UPDATE /* markedq.Claim */ jobs FORCE INDEX (PRIMARY)
SET    status = 'busy',
       owner = ?,
       since = ?
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: since, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
SELECT /* markedq.Complete */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: since, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
UPDATE /* markedq.Complete */ jobs FORCE INDEX (PRIMARY)
SET    status = 'ok'
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: since, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
SELECT /* markedq.Fail */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: since, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
UPDATE /* markedq.Fail */ jobs FORCE INDEX (PRIMARY)
SET    status = 'new',
       owner = NULL,
       since = NULL
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: since, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
SELECT /* markedq.Requeue */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
UPDATE /* markedq.Requeue */ jobs FORCE INDEX (PRIMARY)
SET    status = 'new',
       owner = NULL,
       since = NULL
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: since, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
SELECT /* markedq.Extend */
       id
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Since Owner
UPDATE /* markedq.Extend */ jobs FORCE INDEX (PRIMARY)
SET    since = UTC_TIMESTAMP(6)
WHERE  ((id, since, owner) IN ((?, ?, ?)))
AND    status = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* markedq.Extend */
       id, CAST(since AS CHAR)
FROM   jobs FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id), which finds the rows that somebody has by status
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* markedq.Recover */ (
           SELECT id
           FROM   jobs
           WHERE  status = 'busy'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id
SET    status = 'new',
       owner = NULL,
       since = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (status, id); it reads those that are not old enough as well, which one on (status, since) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* markedq.Purge */ jobs
FROM   (
           SELECT id
           FROM   jobs
           WHERE  status = 'ok'
           AND    since <= UTC_TIMESTAMP(6) - INTERVAL ? SECOND
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN jobs ON jobs.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* markedq.Enqueue */ INTO jobs
       (body)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Body
INSERT /* markedq.EnqueueMany */ INTO jobs
       (body)
VALUES (?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* markedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* markedq.Stats */
       count(CASE WHEN status = 'new' THEN 1 END) AS ready,
       count(CASE WHEN status = 'busy' THEN 1 END) AS running,
       count(CASE WHEN status = 'ok' THEN 1 END) AS done,
       count(CASE WHEN status = 'busy' AND since <= UTC_TIMESTAMP(6) - INTERVAL 1800 SECOND THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN status = 'busy' THEN since END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_running
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (status, id)
SELECT /* markedq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (status, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* markedq.Peek */
       id, body
FROM   jobs IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  status = 'new'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* markedq.Verify */
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
SELECT /* markedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'status', 'varchar' UNION ALL
           SELECT 'owner', 'varchar' UNION ALL
           SELECT 'since', 'datetime' UNION ALL
           SELECT 'body', 'json'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'jobs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* markedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'jobs'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* markedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'jobs_by_id_ready' AS name, 'status, id' AS columns, 'status' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'jobs'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
-- byidq advises the same
ALTER TABLE jobs ADD INDEX jobs_by_id_ready (status, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
