-- Package oldhooksq uses the table hooks as a queue of jobs on MySQL 5.6 and later.
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
-- Jobs are claimed by the strategy guarded: the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in tenant, at most 2 run at once; a claim locks the row of tenants that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it waits for groups that another claims from at that moment, and leaves out those that are full then.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates hooks_ready and hooks_line.
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
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for tenant has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: param kind string, 3: param kind string, 4: limit
SELECT /* oldhooksq.Claim */
       id
FROM   hooks
WHERE  state = 'new'
AND    kind = ?
AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT 1
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy'
               LIMIT  1 OFFSET 1) IS NULL
           AND (SELECT 1
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id)
               LIMIT  1 OFFSET 1) IS NULL
           AND 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id))))
ORDER  BY weight DESC, id
LIMIT  ?;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it returns, and the row of tenants for each group that they are of, until commit; waits for rows that are locked
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID, 2: param kind string, 3: param kind string, 4: param kind string
SELECT /* oldhooksq.Claim */
       id
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    state = 'new'
AND    kind = ?
AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT 1
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy'
               LIMIT  1 OFFSET 1) IS NULL
           AND (SELECT 1
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id)
               LIMIT  1 OFFSET 1) IS NULL
           AND 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id))))
AND    ((tenant IS NULL OR tenant = '*')
           OR (SELECT 1
               FROM   tenants
               WHERE  id = hooks.tenant
               FOR    UPDATE) = 1)
FOR    UPDATE;

-- sql/claim_count.sql
-- claim: those of the rows whose groups still have room behind the locks
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID, 2: param kind string
SELECT /* oldhooksq.Claim */
       id
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id)));

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* oldhooksq.Claim */ hooks FORCE INDEX (PRIMARY)
SET    state = 'busy',
       until_at = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* oldhooksq.Claim */
       id, tenant, kind, CAST(UNIX_TIMESTAMP(until_at) * 1000000 AS SIGNED), weight
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* oldhooksq.Complete */
       id
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* oldhooksq.Complete */ hooks FORCE INDEX (PRIMARY)
SET    state = 'sent',
       until_at = NULL
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy';

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* oldhooksq.Fail */
       id
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* oldhooksq.Fail */ hooks FORCE INDEX (PRIMARY)
SET    state = 'dead',
       until_at = NULL
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* oldhooksq.Requeue */
       id
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* oldhooksq.Requeue */ hooks FORCE INDEX (PRIMARY)
SET    state = 'new',
       until_at = NULL
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: until_at as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
SELECT /* oldhooksq.Extend */
       id
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt
UPDATE /* oldhooksq.Extend */ hooks FORCE INDEX (PRIMARY)
SET    until_at = GREATEST(NOW(6) + INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) + INTERVAL 300 SECOND, '+00:00', @@time_zone))
WHERE  ((id = ? AND until_at = FROM_UNIXTIME(? * 0.000001)))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* oldhooksq.Extend */
       id, CAST(UNIX_TIMESTAMP(until_at) * 1000000 AS SIGNED)
FROM   hooks FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, kind, weight DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* oldhooksq.Recover */ (
           SELECT id
           FROM   hooks
           WHERE  state = 'busy'
           AND    until_at <= NOW(6)
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN hooks ON hooks.id = picked.id
SET    state = 'new',
       until_at = NULL;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* oldhooksq.Redrive */ (
           SELECT id
           FROM   hooks
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN hooks ON hooks.id = picked.id
SET    state = 'new',
       until_at = NULL;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* oldhooksq.Purge */ hooks
FROM   (
           SELECT id
           FROM   hooks
           WHERE  state = 'sent'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN hooks ON hooks.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* oldhooksq.Purge */ hooks
FROM   (
           SELECT id
           FROM   hooks
           WHERE  state = 'dead'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN hooks ON hooks.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Tenant, 2: new Kind, 3: new Weight
INSERT /* oldhooksq.Enqueue */ INTO hooks
       (tenant, kind, weight)
VALUES (?, ?, coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Tenant Kind Weight
INSERT /* oldhooksq.EnqueueMany */ INTO hooks
       (tenant, kind, weight)
VALUES (?, ?, coalesce(?, 0));

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* oldhooksq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* oldhooksq.Stats */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND until_at <= NOW(6) THEN 1 END) AS expired
FROM   hooks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* oldhooksq.StatsOf */
       count(CASE WHEN state = 'new' THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'sent' THEN 1 END) AS done,
       count(CASE WHEN state = 'dead' THEN 1 END) AS failed,
       count(CASE WHEN state = 'busy' AND until_at <= NOW(6) THEN 1 END) AS expired
FROM   hooks
WHERE  kind = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (state, kind, weight DESC, id)
SELECT /* oldhooksq.Backlog */
       kind,
       count(*) AS ready
FROM   hooks
WHERE  state = 'new'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, kind, weight DESC, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: param kind string, 3: param kind string, 4: limit
SELECT /* oldhooksq.Peek */
       id, tenant, kind, weight
FROM   hooks
WHERE  state = 'new'
AND    kind = ?
AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT 1
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy'
               LIMIT  1 OFFSET 1) IS NULL
           AND (SELECT 1
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id)
               LIMIT  1 OFFSET 1) IS NULL
           AND 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id))))
ORDER  BY weight DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* oldhooksq.Verify */
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
SELECT /* oldhooksq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'tenant', 'varchar' UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'until_at', 'timestamp' UNION ALL
           SELECT 'weight', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'hooks'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* oldhooksq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'hooks'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* oldhooksq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'hooks_ready' AS name, 'state, kind, weight desc, id' AS columns, 'state, kind, weight desc' AS least UNION ALL
           SELECT 'hooks_line', 'tenant, state, weight desc, id', 'tenant, state, weight desc'
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'hooks'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order from MySQL 8 on; before that no index keeps a falling order, and they are sorted; it also serves Recover: rows that somebody has, which are few
-- hooksq advises the same
ALTER TABLE hooks ADD INDEX hooks_ready (state, kind, weight DESC, id), ALGORITHM=INPLACE, LOCK=NONE;

-- serves Claim: who is before a row in its group, and which of them run
-- hooksq advises the same
ALTER TABLE hooks ADD INDEX hooks_line (tenant, state, weight DESC, id), ALGORITHM=INPLACE, LOCK=NONE;
