-- Package callsq uses the table calls as a queue of jobs on MariaDB 10.8 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: strategy=block is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Of the jobs that are alike in tenant, at most 2 run at once; a claim locks the row of tenants that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. The server keeps locked as well what it reads and passes over, which no claim takes. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_ready and calls_line.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=block is asked for
--   lease_table  strategy=block is asked for
--   hold         strategy=block is asked for
--   partition    strategy=block is asked for
--   returning    strategy=block is asked for
-- * block        strategy=block is asked for
--   token        strategy=block is asked for
--   lock_update  strategy=block is asked for
--   advisory     strategy=block is asked for
--   guarded      strategy=block is asked for
--   pop          strategy=block is asked for
-- note: rows of one priority are taken as they came, by column "id"
-- note: a row whose column "tenant" is null belongs to no group
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for tenant has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it finds, those that it reads and passes over, and the row of tenants for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (state, kind, weight DESC, id, part)
-- isolation: read committed
-- arguments: 1: param kind string, 2: param kind string, 3: param kind string, 4: limit, 5: param kind string, 6: token Held, 7: token Held
BEGIN /* callsq.Claim */ NOT ATOMIC
    DECLARE changed BOOLEAN DEFAULT TRUE;
    DECLARE held_rows BOOLEAN;
    DECLARE picked_id TYPE OF calls.id;
    DECLARE picked_part TYPE OF calls.part;
    DECLARE candidate CURSOR FOR
        SELECT id, part
        FROM   calls
        WHERE  state = 'new'
        AND    kind = ?
        AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy'
               LIMIT  1 OFFSET 1) IS NULL
           AND (SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part))
               LIMIT  1 OFFSET 1) IS NULL
           AND 2 > (SELECT count(*)
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part)))))
        ORDER  BY weight DESC, id, part
        LIMIT  ?
        FOR    UPDATE SKIP LOCKED;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET changed = FALSE;
    OPEN candidate;
    FETCH candidate INTO picked_id, picked_part;
    WHILE changed DO
        SELECT COUNT(*)
        INTO   held_rows
        FROM   calls
        WHERE  id = picked_id
        AND    part = picked_part
        AND    ((tenant IS NULL OR tenant = '*')
           OR (SELECT 1
               FROM   tenants
               WHERE  id = calls.tenant
               FOR    UPDATE SKIP LOCKED) = 1);
        SELECT held_rows AND COUNT(*)
        INTO   held_rows
        FROM   calls
        WHERE  id = picked_id
        AND    part = picked_part
        AND    ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part))));
        IF held_rows THEN
            UPDATE calls
            SET    state = 'busy',
                   held = ?
            WHERE  id = picked_id
            AND    part = picked_part;
        END IF;
        FETCH candidate INTO picked_id, picked_part;
    END WHILE;
    CLOSE candidate;
    SELECT id, part, tenant, kind, held, weight
    FROM   calls
    WHERE  held = ?
    AND    state = 'busy';
END;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: held as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Part Held
SELECT /* callsq.Complete */
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
UPDATE /* callsq.Complete */ calls FORCE INDEX (PRIMARY)
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
SELECT /* callsq.Fail */
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
UPDATE /* callsq.Fail */ calls FORCE INDEX (PRIMARY)
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
SELECT /* callsq.Requeue */
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
UPDATE /* callsq.Requeue */ calls FORCE INDEX (PRIMARY)
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
UPDATE /* callsq.Redrive */ (
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
DELETE /* callsq.Purge */ calls
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
DELETE /* callsq.Purge */ calls
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
INSERT /* callsq.Enqueue */ INTO calls
       (part, tenant, kind, weight)
VALUES (?, ?, ?, coalesce(?, 0));

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Part Tenant Kind Weight
INSERT /* callsq.EnqueueMany */ INTO calls
       (part, tenant, kind, weight)
VALUES (?, ?, ?, coalesce(?, 0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
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
SELECT /* callsq.StatsOf */
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
SELECT /* callsq.Backlog */
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
-- arguments: 1: param kind string, 2: param kind string, 3: param kind string, 4: limit
SELECT /* callsq.Peek */
       id, part, tenant, kind, weight
FROM   calls
WHERE  state = 'new'
AND    kind = ?
AND    ((tenant IS NULL OR tenant = '*')
           OR ((SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy'
               LIMIT  1 OFFSET 1) IS NULL
           AND (SELECT 1
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part))
               LIMIT  1 OFFSET 1) IS NULL
           AND 2 > (SELECT count(*)
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   calls AS other
               WHERE  other.tenant = calls.tenant
               AND    other.state = 'new'
               AND    other.kind = ?
               AND    (other.weight > calls.weight OR other.weight = calls.weight AND (other.id < calls.id OR other.id = calls.id AND other.part < calls.part)))))
ORDER  BY weight DESC, id, part
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.8')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 100800;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* callsq.Verify */
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
SELECT /* callsq.Verify */
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
SELECT /* callsq.Verify */
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE calls ADD INDEX calls_ready (state, kind, weight DESC, id, part), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.

-- serves Claim: who is before a row in its group, and which of them run
ALTER TABLE calls ADD INDEX calls_line (tenant, state, weight DESC, id, part), ALGORITHM=INPLACE, LOCK=NONE;
