-- Package askedq uses the table calls as a queue of jobs on MariaDB 10.6 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Of the jobs that are alike in tenant, one runs at once; a claim locks the row of tenants that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_ready and calls_line.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MariaDB 10.6 cannot return the rows of an UPDATE
--   block        no index can give this order, and rows that are sorted are all locked first
--   token        no index can give this order, and rows that are sorted are all locked first
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MariaDB has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: rows of one priority are taken as they came, by column "id"
-- note: a row whose column "tenant" is null belongs to no group
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for tenant has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id, part)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: param kind string, 2: param kind string, 3: ahead, 4: param kind string, 5: param kind string, 6: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* askedq.Claim */
       calls.id, calls.part
FROM   (
           SELECT id AS candidate_1, part AS candidate_2, weight AS candidate_3
           FROM   calls
           WHERE  state = 'new'
           AND    kind = ?
           AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
           AND (SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part))
               LIMIT  1) IS NULL))
           ORDER  BY weight DESC, id, part
           LIMIT  ?
       ) AS candidate
       STRAIGHT_JOIN calls FORCE INDEX (PRIMARY) ON calls.id = candidate.candidate_1
                     AND calls.part = candidate.candidate_2
WHERE  calls.state = 'new'
AND    calls.kind = ?
AND    ((calls.tenant IS NULL OR calls.tenant = '*')
           OR ((SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
           AND (SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part))
               LIMIT  1) IS NULL))
ORDER  BY candidate.candidate_3 DESC, candidate.candidate_1, candidate.candidate_2
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim_group.sql
-- claim: locks the groups of the rows that claim_lock.sql locked
-- locks: the row of tenants for each group, until commit; passes over groups that are locked
-- index: the key; tenant <=> tenant always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID Part
SELECT /* askedq.Claim */
       id, part
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND part = ?))
AND    ((tenant IS NULL OR tenant = '*')
           OR (SELECT 1
               FROM   tenants
               WHERE  id = calls.tenant
               FOR    UPDATE SKIP LOCKED) = 1)
AND    tenant <=> tenant
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part
SELECT /* askedq.Claim */
       id, part
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND part = ?))
AND    ((tenant IS NULL OR tenant = '*')
           OR (SELECT count(*)
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy') = 0);

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: token Held, 2: list ID Part
UPDATE /* askedq.Claim */ calls FORCE INDEX (PRIMARY)
SET    state = 'busy',
       held = ?
WHERE  ((id = ? AND part = ?));

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part
SELECT /* askedq.Claim */
       id, part, tenant, kind, held, weight
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND part = ?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part Held
SELECT /* askedq.Complete */
       id, part
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND part = ? AND held = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part Held
UPDATE /* askedq.Complete */ calls FORCE INDEX (PRIMARY)
SET    state = 'sent'
WHERE  ((id = ? AND part = ? AND held = ?))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part Held
SELECT /* askedq.Fail */
       id, part
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND part = ? AND held = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part Held
UPDATE /* askedq.Fail */ calls FORCE INDEX (PRIMARY)
SET    state = 'dead'
WHERE  ((id = ? AND part = ? AND held = ?))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part Held
SELECT /* askedq.Requeue */
       id, part
FROM   calls FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND part = ? AND held = ?))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: held as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part Held
UPDATE /* askedq.Requeue */ calls FORCE INDEX (PRIMARY)
SET    state = 'new',
       held = NULL
WHERE  ((id = ? AND part = ? AND held = ?))
AND    state = 'busy';

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id, part)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* askedq.Redrive */ (
           SELECT id, part
           FROM   calls
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN calls ON calls.id = picked.id
                               AND    calls.part = picked.part
SET    state = 'new',
       held = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id, part)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* askedq.Purge */ calls
FROM   (
           SELECT id, part
           FROM   calls
           WHERE  state = 'sent'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN calls ON calls.id = picked.id
                               AND    calls.part = picked.part;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, kind, weight DESC, id, part)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* askedq.Purge */ calls
FROM   (
           SELECT id, part
           FROM   calls
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN calls ON calls.id = picked.id
                               AND    calls.part = picked.part;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Part, 2: new Tenant, 3: new Kind, 4: new Weight
INSERT /* askedq.Enqueue */ INTO calls
       (part, tenant, kind, weight)
VALUES (?, ?, ?, coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Part Tenant Kind Weight
INSERT /* askedq.EnqueueMany */ INTO calls
       (part, tenant, kind, weight)
VALUES (?, ?, ?, coalesce(?, 0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed
FROM   calls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* askedq.StatsOf */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed
FROM   calls
WHERE  kind = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (state, kind, weight DESC, id, part)
SELECT /* askedq.Backlog */
       kind,
       count(*) AS ready
FROM   calls
WHERE  state = 'new'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, kind, weight DESC, id, part)
-- isolation: read committed
-- arguments: 1: param kind string, 2: param kind string, 3: limit
SELECT /* askedq.Peek */
       id, part, tenant, kind, weight
FROM   calls
WHERE  state = 'new'
AND    kind = ?
AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
           AND (SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part))
               LIMIT  1) IS NULL))
ORDER  BY weight DESC, id, part
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.6')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100600;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* askedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'part', 'int' UNION ALL
           SELECT 'tenant', 'varchar' UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'held', 'binary' UNION ALL
           SELECT 'weight', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'calls'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* askedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'calls'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* askedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'calls_ready' AS name, 'state, kind, weight desc, id, part' AS columns, 'state, kind, weight desc' AS least UNION ALL
           SELECT 'calls_line', 'tenant, state, weight desc, id, part', 'tenant, state, weight desc'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'calls'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order from MariaDB 10.8 on; before that no index keeps a falling order, and they are sorted
-- callsq advises the same
ALTER TABLE calls ADD INDEX calls_ready (state, kind, weight DESC, id, part), ALGORITHM=INPLACE, LOCK=NONE;

-- serves Claim: who is before a row in its group, and which of them run
-- callsq advises the same
ALTER TABLE calls ADD INDEX calls_line (tenant, state, weight DESC, id, part), ALGORITHM=INPLACE, LOCK=NONE;
