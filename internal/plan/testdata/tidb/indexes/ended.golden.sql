-- Package endedq uses the table ended as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates ended_ready.
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
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, topic, id)
-- isolation: read committed
-- arguments: 1: param topic string, 2: limit
SELECT /* endedq.Claim */
       id
FROM   ended IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'r'
AND    topic = ?
ORDER  BY id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks and reads those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID, 2: param topic string
SELECT /* endedq.Claim */
       id, topic
FROM   ended FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'r'
AND    topic = ?
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* endedq.Claim */ ended FORCE INDEX (PRIMARY)
SET    state = 'x'
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* endedq.Complete */
       id
FROM   ended FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'x'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* endedq.Complete */ ended FORCE INDEX (PRIMARY)
SET    state = 'd'
WHERE  (id = ?)
AND    state = 'x';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* endedq.Fail */
       id
FROM   ended FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'x'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* endedq.Fail */ ended FORCE INDEX (PRIMARY)
SET    state = 'r'
WHERE  (id = ?)
AND    state = 'x';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* endedq.Requeue */
       id
FROM   ended FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'x'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* endedq.Requeue */ ended FORCE INDEX (PRIMARY)
SET    state = 'r'
WHERE  (id = ?)
AND    state = 'x';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: state_topic (state, topic)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* endedq.Purge */ FROM ended
WHERE  state = 'd'
LIMIT  ?;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Topic
INSERT /* endedq.Enqueue */ INTO ended
       (topic)
VALUES (?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* endedq.Stats */
       count(CASE WHEN state = 'r' THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running,
       count(CASE WHEN state = 'd' THEN 1 END) AS done
FROM   ended;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same topic is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param topic string
SELECT /* endedq.StatsOf */
       count(CASE WHEN state = 'r' THEN 1 END) AS ready,
       count(CASE WHEN state = 'x' THEN 1 END) AS running,
       count(CASE WHEN state = 'd' THEN 1 END) AS done
FROM   ended
WHERE  topic = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by topic
-- locks: none
-- index: state_topic (state, topic)
SELECT /* endedq.Backlog */
       topic,
       count(*) AS ready
FROM   ended
WHERE  state = 'r'
GROUP  BY topic
ORDER  BY topic;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, topic, id)
-- isolation: read committed
-- arguments: 1: param topic string, 2: limit
SELECT /* endedq.Peek */
       id, topic
FROM   ended IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'r'
AND    topic = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* endedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* endedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'topic', 'varchar' UNION ALL
           SELECT 'state', 'char'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'ended'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* endedq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* endedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'ended_ready' AS name, 'state, topic, id' AS columns, 'state, topic, id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'ended'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX ended_ready ON ended (state, topic, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
