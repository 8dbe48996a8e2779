-- Package waitsq uses the table waits as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy token: the token column holds the key of the batch, by which it is read back.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates waits_ready and waits_others.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        others do the same in plain statements, so a block must be asked for
-- * token        the token column holds the key of the batch, by which it is read back
--   lock_update  not needed: token comes first
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: token comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, site, no
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit, 2: token Token
UPDATE /* waitsq.Claim */ (
           SELECT site, no
           FROM   waits IGNORE INDEX FOR ORDER BY (PRIMARY)
           WHERE  state = 'new'
           ORDER  BY site, no
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN waits ON waits.site = picked.site
                               AND    waits.no = picked.no
SET    state = 'busy',
       token = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: (state, site, no); it reads others as well
-- isolation: read committed
-- arguments: 1: token Token
SELECT /* waitsq.Claim */
       site, no, after, tries, token
FROM   waits
WHERE  token = ?
AND    state = 'busy';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
SELECT /* waitsq.Complete */
       site, no
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete_update_waits.sql
-- complete: updates rows of waits for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (site, after)
-- isolation: read committed
-- arguments: 1: list Site No, 2: list Site No Token
UPDATE /* waitsq.Complete */ waits AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN waits ON waits.site = held.site
                     AND waits.after = held.no
                     AND waits.state = 'waiting'
                     AND NOT ((waits.site = ? AND waits.no = ?))
SET    waits.state = 'new'
WHERE  ((held.site = ? AND held.no = ? AND held.token = ?));

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
DELETE /* waitsq.Complete */ waits
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
SELECT /* waitsq.Fail */
       site, no
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
UPDATE /* waitsq.Fail */ waits FORCE INDEX (PRIMARY)
SET    state = 'new',
       tries = tries + 1,
       token = NULL
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
SELECT /* waitsq.Fail */
       site, no
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail_update_waits.sql
-- fail: updates rows of waits for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (site, after)
-- isolation: read committed
-- arguments: 1: list Site No, 2: list Site No Token
UPDATE /* waitsq.Fail */ waits AS held FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN waits ON waits.site = held.site
                     AND waits.after = held.no
                     AND waits.state IN ('waiting', 'new')
                     AND NOT ((waits.site = ? AND waits.no = ?))
SET    waits.state = 'failed'
WHERE  ((held.site = ? AND held.no = ? AND held.token = ?));

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
UPDATE /* waitsq.Fail */ waits FORCE INDEX (PRIMARY)
SET    state = 'failed',
       tries = tries + 1
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: token as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
SELECT /* waitsq.Requeue */
       site, no
FROM   waits FORCE INDEX (PRIMARY)
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Site No Token
UPDATE /* waitsq.Requeue */ waits FORCE INDEX (PRIMARY)
SET    state = 'new',
       token = NULL
WHERE  ((site = ? AND no = ? AND token = ?))
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* waitsq.Redrive */ (
           SELECT site, no
           FROM   waits
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN waits ON waits.site = picked.site
                               AND    waits.no = picked.no
SET    state = 'new',
       tries = 0,
       token = NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* waitsq.Purge */ waits
FROM   (
           SELECT site, no
           FROM   waits
           WHERE  state = 'failed'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN waits ON waits.site = picked.site
                               AND    waits.no = picked.no;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new No, 3: new After
INSERT /* waitsq.Enqueue */ INTO waits
       (site, no, after, state)
VALUES (?, ?, ?, 'new');

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Site No After
INSERT /* waitsq.EnqueueMany */ INTO waits
       (site, no, after, state)
VALUES (?, ?, ?, 'new');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed
FROM   waits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, site, no)
SELECT /* waitsq.Backlog */
       count(*) AS ready
FROM   waits
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, site, no)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       site, no, after, tries
FROM   waits IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'new'
ORDER  BY site, no
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'site' AS name, 'varchar' AS type UNION ALL
           SELECT 'no', 'int' UNION ALL
           SELECT 'after', 'int' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'token', 'char'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'waits'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* waitsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'waits'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'waits_ready' AS name, 'state, site, no' AS columns, 'state' AS least UNION ALL
           SELECT 'waits_others', 'site, after', 'site, after'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'waits'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
ALTER TABLE waits ADD INDEX waits_ready (state, site, no), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- finds the rows of other jobs that a step writes; PRIMARY leads to these rows among others: where those are few, decline this one (indexes: {others: false})
ALTER TABLE waits ADD INDEX waits_others (site, after), ALGORITHM=INPLACE, LOCK=NONE;
