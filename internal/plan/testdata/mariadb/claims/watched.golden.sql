-- Package watchedq uses the table buildrequests as a queue of jobs on MariaDB 10.11 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its worker is gone
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until Recover, which goes by the workers that are alive, makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates buildrequests_builds_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for

-- sql/claim_lock.sql
-- claim: locks ready rows, for which claim.sql then adds claims
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (complete, builderid, priority DESC, submitted_at, id)
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: param builderid int32, 2: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
SELECT /* watchedq.Claim */
       id
FROM   buildrequests
WHERE  complete = 0
AND    builderid = ?
AND    (SELECT COUNT(*) FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id) = 0
ORDER  BY priority DESC, submitted_at, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, by a row of buildrequest_claims for each of the rows that claim_lock.sql locked
-- of all rows or of none: where a claim is there by then, it is tried for one row after the other
-- locks: the claims it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Masterid, 2: list ID
INSERT /* watchedq.Claim */ INTO buildrequest_claims
       (brid, masterid, claimed_at)
SELECT buildrequests.id, ?, UNIX_TIMESTAMP()
FROM   buildrequests FORCE INDEX (PRIMARY)
WHERE  (id = ?);

-- sql/claim_read.sql
-- claim: reads the jobs that were taken, with their claims
-- locks: none
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* watchedq.Claim */
       buildrequests.id, buildrequests.builderid, buildrequests.priority,
       buildrequests.complete_at, buildrequests.submitted_at, buildrequest_claims.masterid,
       buildrequest_claims.claimed_at
FROM   buildrequest_claims, buildrequests FORCE INDEX (PRIMARY)
WHERE  (buildrequests.id = ?)
AND    buildrequest_claims.brid = buildrequests.id
AND    buildrequests.complete = 0;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key; builderid <=> builderid always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* watchedq.Complete */
       id
FROM   buildrequests FORCE INDEX (PRIMARY)
WHERE  (id = ?)
AND    builderid <=> builderid
FOR    UPDATE;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; masterid <=> masterid always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID ClaimedAt Masterid
SELECT /* watchedq.Complete */
       brid
FROM   buildrequest_claims FORCE INDEX (buildrequest_claims_brids)
WHERE  ((brid = ? AND claimed_at = ? AND masterid = ?))
AND    ((SELECT COUNT(*) FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0) > 0)
AND    masterid <=> masterid
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID ClaimedAt Masterid
UPDATE /* watchedq.Complete */ buildrequest_claims FORCE INDEX (buildrequest_claims_brids)
SET    masterid = masterid
WHERE  ((brid = ? AND claimed_at = ? AND masterid = ?))
AND    ((SELECT COUNT(*) FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0) > 0);

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
UPDATE /* watchedq.Complete */ buildrequests FORCE INDEX (PRIMARY)
SET    complete = 1
WHERE  (id = ?)
AND    complete = 0;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; masterid <=> masterid always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID ClaimedAt Masterid
SELECT /* watchedq.Fail */
       brid
FROM   buildrequest_claims FORCE INDEX (buildrequest_claims_brids)
WHERE  ((brid = ? AND claimed_at = ? AND masterid = ?))
AND    ((SELECT COUNT(*) FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0) > 0)
AND    masterid <=> masterid
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; masterid <=> masterid always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID ClaimedAt Masterid
DELETE /* watchedq.Fail */ buildrequest_claims
FROM   buildrequest_claims FORCE INDEX (buildrequest_claims_brids)
WHERE  ((brid = ? AND claimed_at = ? AND masterid = ?))
AND    ((SELECT COUNT(*) FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0) > 0)
AND    masterid <=> masterid;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; masterid <=> masterid always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID ClaimedAt Masterid
SELECT /* watchedq.Requeue */
       brid
FROM   buildrequest_claims FORCE INDEX (buildrequest_claims_brids)
WHERE  ((brid = ? AND claimed_at = ? AND masterid = ?))
AND    ((SELECT COUNT(*) FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0) > 0)
AND    masterid <=> masterid
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; masterid <=> masterid always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list ID ClaimedAt Masterid
DELETE /* watchedq.Requeue */ buildrequest_claims
FROM   buildrequest_claims FORCE INDEX (buildrequest_claims_brids)
WHERE  ((brid = ? AND claimed_at = ? AND masterid = ?))
AND    ((SELECT COUNT(*) FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0) > 0)
AND    masterid <=> masterid;

-- sql/recover.sql
-- recover: running of workers that are gone to ready
-- locks: the rows it writes and those that it reads and passes over, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- snapshot: from 11.6.2 on the server would refuse a row that others wrote while it read (error 1020); EXPLAIN goes behind the setting
-- isolation: read committed
-- arguments: 1: limit
/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */
DELETE /* watchedq.Recover */ buildrequest_claims
FROM   (
           SELECT brid
           FROM   buildrequest_claims
           WHERE  ((SELECT COUNT(*) FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0) > 0)
           AND    (masterid IS NOT NULL AND NOT EXISTS (SELECT 1 FROM masters worker_row WHERE worker_row.id = buildrequest_claims.masterid AND worker_row.last_active > FLOOR(UNIX_TIMESTAMP() - 600) AND (active = 1)))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN buildrequest_claims ON buildrequest_claims.brid = picked.brid;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Builderid, 2: new Priority, 3: new CompleteAt, 4: new SubmittedAt
INSERT /* watchedq.Enqueue */ INTO buildrequests
       (builderid, priority, complete_at, submitted_at)
VALUES (?, coalesce(?, 0), ?, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Builderid Priority CompleteAt SubmittedAt
INSERT /* watchedq.EnqueueMany */ INTO buildrequests
       (builderid, priority, complete_at, submitted_at)
VALUES (?, coalesce(?, 0), ?, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* watchedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* watchedq.Stats */
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL THEN 1 END) AS ready,
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN buildrequests.complete = 1 THEN 1 END) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same builderid is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param builderid int32
SELECT /* watchedq.StatsOf */
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL THEN 1 END) AS ready,
       count(CASE WHEN buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL THEN 1 END) AS running,
       count(CASE WHEN buildrequests.complete = 1 THEN 1 END) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id
WHERE  buildrequests.builderid = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by builderid
-- locks: none
-- index: (complete, builderid, priority DESC, submitted_at, id)
SELECT /* watchedq.Backlog */
       buildrequests.builderid,
       count(*) AS ready
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id
WHERE  buildrequests.complete = 0
AND    buildrequest_claims.brid IS NULL
GROUP  BY buildrequests.builderid
ORDER  BY buildrequests.builderid;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (complete, builderid, priority DESC, submitted_at, id)
-- isolation: read committed
-- arguments: 1: param builderid int32, 2: limit
SELECT /* watchedq.Peek */
       id, builderid, priority, complete_at, submitted_at
FROM   buildrequests
WHERE  complete = 0
AND    builderid = ?
AND    (SELECT COUNT(*) FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id) = 0
ORDER  BY priority DESC, submitted_at, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* watchedq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MariaDB 10.11')
FROM   DUAL
WHERE  VERSION() NOT LIKE '%MariaDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 101100;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* watchedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'builderid', 'int' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'complete', 'int' UNION ALL
           SELECT 'complete_at', 'int' UNION ALL
           SELECT 'submitted_at', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'buildrequests'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_lease.sql
-- verify: columns of buildrequest_claims
-- locks: none
SELECT /* watchedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'brid' AS name, 'int' AS type UNION ALL
           SELECT 'masterid', 'int' UNION ALL
           SELECT 'claimed_at', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'buildrequest_claims'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* watchedq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'buildrequests'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* watchedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'buildrequests_builds_ready' AS name, 'complete, builderid, priority desc, submitted_at, id' AS columns, 'complete, builderid, priority desc, submitted_at' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'buildrequests'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- buildsq advises the same
ALTER TABLE buildrequests ADD INDEX buildrequests_builds_ready (complete, builderid, priority DESC, submitted_at, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
