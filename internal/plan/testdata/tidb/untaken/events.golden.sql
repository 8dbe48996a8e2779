-- Package eventsq uses the table events as a queue of jobs on TiDB 7.5 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "holder" does: a row is ready only while holder = '', and not where something else has left a value there
-- note: the fence compares column "held_at", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot region, and workers wait for each other there: for many workers add a column for qgen:shard mod and give each worker its share

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, holder, place, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Claim */
       id
FROM   events
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY place, id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* eventsq.Claim */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'waiting'
AND    holder = ''
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to claimed, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Holder, 2: list ID
UPDATE /* eventsq.Claim */ events FORCE INDEX (PRIMARY)
SET    holder = ?,
       held_at = UNIX_TIMESTAMP()
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* eventsq.Claim */
       id, place, holder, held_at
FROM   events FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/start_lock.sql
-- start: locks the rows of jobs whose claims are still theirs, which start.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* eventsq.Start */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state = 'waiting'
AND    holder <> ''
FOR    UPDATE;

-- sql/start.sql
-- start: claimed to running
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* eventsq.Start */ events FORCE INDEX (PRIMARY)
SET    state = 'busy'
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state = 'waiting'
AND    holder <> '';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* eventsq.Complete */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> ''
FOR    UPDATE;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* eventsq.Complete */ events FORCE INDEX (PRIMARY)
SET    state = 'complete'
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* eventsq.Fail */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> ''
FOR    UPDATE;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* eventsq.Fail */ events FORCE INDEX (PRIMARY)
SET    state = 'failed'
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* eventsq.Requeue */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> ''
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* eventsq.Requeue */ events FORCE INDEX (PRIMARY)
SET    state = 'waiting',
       holder = '',
       held_at = 0
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: held_at, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
SELECT /* eventsq.Extend */
       id
FROM   events FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> ''
FOR    UPDATE;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID HeldAt Holder
UPDATE /* eventsq.Extend */ events FORCE INDEX (PRIMARY)
SET    held_at = UNIX_TIMESTAMP()
WHERE  ((id = ? AND held_at = ? AND holder = ?))
AND    state IN ('waiting', 'busy')
AND    holder <> '';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* eventsq.Extend */
       id, held_at
FROM   events FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, holder, place, id), which finds the rows that somebody has by state, holder
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
WHERE  state IN ('waiting', 'busy')
AND    holder <> ''
AND    held_at <= FLOOR(UNIX_TIMESTAMP() - 300)
AND    held_at > 0
LIMIT  ?;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, holder, place, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Redrive */ events
SET    state = 'waiting',
       holder = '',
       held_at = 0
WHERE  state = 'failed'
LIMIT  ?;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, holder, place, id); it reads those that are not old enough as well, which one on (state, held_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  state = 'complete'
AND    held_at <= FLOOR(UNIX_TIMESTAMP() - ?)
LIMIT  ?;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, holder, place, id); it reads those that are not old enough as well, which one on (state, held_at) would not
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  state = 'failed'
AND    held_at <= FLOOR(UNIX_TIMESTAMP() - ?)
LIMIT  ?;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Place
INSERT /* eventsq.Enqueue */ INTO events
       (place, state, holder)
VALUES (?, 'waiting', '');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(CASE WHEN state = 'waiting' AND holder = '' THEN 1 END) AS ready,
       count(CASE WHEN state = 'waiting' AND holder <> '' THEN 1 END) AS claimed,
       count(CASE WHEN state = 'busy' AND holder <> '' THEN 1 END) AS running,
       count(CASE WHEN state = 'complete' THEN 1 END) AS done,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed,
       count(CASE WHEN state IN ('waiting', 'busy') AND holder <> '' AND held_at <= FLOOR(UNIX_TIMESTAMP() - 300) AND held_at > 0 THEN 1 END) AS expired,
       CAST(UNIX_TIMESTAMP() AS SIGNED) - CAST(min(CASE WHEN state IN ('waiting', 'busy') AND holder <> '' THEN held_at END) AS SIGNED) AS oldest_running
FROM   events;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, holder, place, id)
SELECT /* eventsq.Backlog */
       count(*) AS ready
FROM   events
WHERE  state = 'waiting'
AND    holder = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, holder, place, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       id, place, holder, held_at
FROM   events
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY place, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs TiDB 7.5')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%-TiDB-v%'
OR     SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-TiDB-v', -1), '.', 2), '.', -1) < 705;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint unsigned' AS type UNION ALL
           SELECT 'place', 'int unsigned' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'holder', 'varchar' UNION ALL
           SELECT 'held_at', 'bigint unsigned'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'events'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* eventsq.Verify */
       'tidb_txn_mode is not pessimistic; SET GLOBAL tidb_txn_mode = ''pessimistic'''
FROM   DUAL
WHERE  @@tidb_txn_mode <> 'pessimistic';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'events_ready' AS name, 'state, holder, place, id' AS columns, 'state, holder, place, id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'events'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX events_ready ON events (state, holder, place, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
