-- Package casesq uses the table cases as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Of the jobs that are alike in case_id, one runs at once; a claim locks the row of tenants that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it waits for groups that another claims from at that moment, and leaves out those that are full then.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates cases_group and cases_line.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    TiDB 7.5 cannot return the rows of an UPDATE
--   block        TiDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  TiDB 7.5 cannot pass over locked rows
--   advisory     TiDB has no locks on numbers
-- * guarded      the old state is compared when a row is taken
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for case_id has it read rows of one group alone
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* casesq.Claim */
       id
FROM   cases FORCE INDEX (`PRIMARY`)
WHERE  (until_at <= NOW(6) OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR ((SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > NOW(6)
               LIMIT  1) IS NULL
           AND (SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    (other.until_at <= NOW(6) OR other.until_at IS NULL)
               AND    other.id < cases.id
               LIMIT  1) IS NULL))
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it returns, and the row of tenants for each group that they are of, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* casesq.Claim */
       id
FROM   cases FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (until_at <= NOW(6) OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR ((SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > NOW(6)
               LIMIT  1) IS NULL
           AND (SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    (other.until_at <= NOW(6) OR other.until_at IS NULL)
               AND    other.id < cases.id
               LIMIT  1) IS NULL))
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (SELECT 1
               FROM   tenants
               WHERE  id = cases.case_id
               FOR    UPDATE) = 1)
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* casesq.Claim */
       id
FROM   cases FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (SELECT count(*)
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > NOW(6)) = 0);

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker OwnerName, 2: list ID
UPDATE /* casesq.Claim */ cases FORCE INDEX (PRIMARY)
SET    until_at = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone)),
       owner_name = ?,
       rev = rev + 1
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* casesq.Claim */
       id, case_id, alone, CAST(UNIX_TIMESTAMP(until_at) * 1000000 AS SIGNED), rev
FROM   cases FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: rev as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
SELECT /* casesq.Complete */
       id
FROM   cases FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
DELETE /* casesq.Complete */ FROM cases
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: rev as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
SELECT /* casesq.Fail */
       id
FROM   cases FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
UPDATE /* casesq.Fail */ cases FORCE INDEX (PRIMARY)
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: rev as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
SELECT /* casesq.Requeue */
       id
FROM   cases FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
UPDATE /* casesq.Requeue */ cases FORCE INDEX (PRIMARY)
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: rev as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
SELECT /* casesq.Extend */
       id
FROM   cases FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Rev
UPDATE /* casesq.Extend */ cases FORCE INDEX (PRIMARY)
SET    until_at = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone)),
       rev = rev + 1
WHERE  ((id = ? AND rev = ?))
AND    until_at IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* casesq.Extend */
       id, CAST(UNIX_TIMESTAMP(until_at) * 1000000 AS SIGNED), rev
FROM   cases FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new CaseID, 2: new Alone
INSERT /* casesq.Enqueue */ INTO cases
       (case_id, alone)
VALUES (?, ?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* casesq.Stats */
       count(CASE WHEN (until_at <= NOW(6) OR until_at IS NULL) THEN 1 END) AS ready,
       count(CASE WHEN until_at IS NOT NULL AND until_at > NOW(6) THEN 1 END) AS running,
       count(CASE WHEN until_at IS NOT NULL AND until_at <= NOW(6) THEN 1 END) AS expired
FROM   cases;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* casesq.Peek */
       id, case_id, alone, rev
FROM   cases FORCE INDEX (`PRIMARY`)
WHERE  (until_at <= NOW(6) OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR ((SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > NOW(6)
               LIMIT  1) IS NULL
           AND (SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    (other.until_at <= NOW(6) OR other.until_at IS NULL)
               AND    other.id < cases.id
               LIMIT  1) IS NULL))
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* casesq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* casesq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'case_id', 'int' UNION ALL
           SELECT 'alone', 'int' UNION ALL
           SELECT 'until_at', 'timestamp' UNION ALL
           SELECT 'owner_name', 'varchar' UNION ALL
           SELECT 'rev', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'cases'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* casesq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* casesq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'PRIMARY' AS name, '' AS columns, '' AS least UNION ALL
           SELECT 'cases_group', 'case_id, until_at', 'case_id, until_at' UNION ALL
           SELECT 'cases_line', 'case_id, id', 'case_id, id'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'cases'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PRIMARY serves already

-- serves Claim: the running rows of a group
CREATE INDEX cases_group ON cases (case_id, until_at, alone);

-- serves Claim: who is before a row in its group
CREATE INDEX cases_line ON cases (case_id, id);
