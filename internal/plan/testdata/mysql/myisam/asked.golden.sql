-- Package askedq uses the table prints as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It reads candidates and takes them one by one, each by an UPDATE that compares the old state; the engine locks the table while one runs, and a caller's transaction cannot take it back. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table is of the engine MyISAM, which has no transactions and locks no rows: what is written stays written, whatever becomes of the transaction of the caller's. The package works over InnoDB as well, and Verify takes that; generated again from such a DDL it settles many jobs at once.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates prints_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written
-- note: rows are taken as they came, by column "id"

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (kind, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* askedq.Claim */
       id, kind, tries, body
FROM   prints IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL)
AND    tries > 0
AND    kind = ?
ORDER  BY id
LIMIT  ?;

-- sql/claim.sql
-- claim: ready to running, of one of the rows that claim_pick.sql named, unless somebody took it since
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Who, 2: list ID, 3: param kind string
UPDATE /* askedq.Claim */ prints FORCE INDEX (PRIMARY)
SET    until_at = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND,
       who = ?
WHERE  (id IN (?))
AND    (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL)
AND    tries > 0
AND    kind = ?;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* askedq.Claim */
       id, kind, CAST(until_at AS CHAR), who, tries, body
FROM   prints FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/complete_held.sql
-- complete: reads whether the claim is still the caller's, where complete.sql changed nothing
-- fence: until_at, who as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
SELECT /* askedq.Complete */
       id
FROM   prints FORCE INDEX (PRIMARY)
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at, who as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
DELETE /* askedq.Complete */ prints
FROM   prints FORCE INDEX (PRIMARY)
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/retry_held.sql
-- retry: reads whether the claim is still the caller's, where retry.sql changed nothing
-- fence: until_at, who as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
SELECT /* askedq.Fail */
       id
FROM   prints FORCE INDEX (PRIMARY)
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: until_at, who as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
UPDATE /* askedq.Fail */ prints FORCE INDEX (PRIMARY)
SET    until_at = NULL,
       who = NULL,
       tries = coalesce(tries, 0) - 1
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/fail_held.sql
-- fail: reads whether the claim is still the caller's, where fail.sql changed nothing
-- fence: until_at, who as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
SELECT /* askedq.Fail */
       id
FROM   prints FORCE INDEX (PRIMARY)
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at, who as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
UPDATE /* askedq.Fail */ prints FORCE INDEX (PRIMARY)
SET    until_at = NULL,
       who = NULL,
       tries = 0
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/requeue_held.sql
-- requeue: reads whether the claim is still the caller's, where requeue.sql changed nothing
-- fence: until_at, who as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
SELECT /* askedq.Requeue */
       id
FROM   prints FORCE INDEX (PRIMARY)
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at, who as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
UPDATE /* askedq.Requeue */ prints FORCE INDEX (PRIMARY)
SET    until_at = NULL,
       who = NULL
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/extend_held.sql
-- extend: reads whether the claim is still the caller's, where extend.sql changed nothing
-- fence: until_at, who as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
SELECT /* askedq.Extend */
       id
FROM   prints FORCE INDEX (PRIMARY)
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at, who as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID UntilAt Who
UPDATE /* askedq.Extend */ prints FORCE INDEX (PRIMARY)
SET    until_at = UTC_TIMESTAMP(6) + INTERVAL 300 SECOND
WHERE  ((id, until_at, who) IN ((?, ?, ?)))
AND    until_at IS NOT NULL;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* askedq.Extend */
       id, CAST(until_at AS CHAR)
FROM   prints FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the table, while the statement runs
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* askedq.Redrive */ (
           SELECT id
           FROM   prints
           WHERE  (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL)
           AND    (tries <= 0 OR tries IS NULL)
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN prints ON prints.id = picked.id
SET    until_at = NULL,
       who = NULL,
       tries = 3;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the table, while the statement runs
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
DELETE /* askedq.Purge */ prints
FROM   (
           SELECT id
           FROM   prints
           WHERE  (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL)
           AND    (tries <= 0 OR tries IS NULL)
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN prints ON prints.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the table, while the statement runs
-- arguments: 1: new Kind, 2: new Body
INSERT /* askedq.Enqueue */ INTO prints
       (kind, tries, body)
VALUES (?, 3, ?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the table, while the statement runs
-- arguments: 1: new_list Kind Body
INSERT /* askedq.EnqueueMany */ INTO prints
       (kind, tries, body)
VALUES (?, 3, ?);

-- sql/enqueue_step.sql
-- enqueue: by how much the keys of rows differ that one statement adds
-- locks: none
SELECT /* askedq.EnqueueMany */
       @@auto_increment_increment;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
       count(CASE WHEN (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL) AND tries > 0 THEN 1 END) AS ready,
       count(CASE WHEN until_at IS NOT NULL AND until_at > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL) AND (tries <= 0 OR tries IS NULL) THEN 1 END) AS failed,
       count(CASE WHEN until_at IS NOT NULL AND until_at <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   prints;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: (kind, id)
-- arguments: 1: param kind string
SELECT /* askedq.StatsOf */
       count(CASE WHEN (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL) AND tries > 0 THEN 1 END) AS ready,
       count(CASE WHEN until_at IS NOT NULL AND until_at > UTC_TIMESTAMP(6) THEN 1 END) AS running,
       count(CASE WHEN (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL) AND (tries <= 0 OR tries IS NULL) THEN 1 END) AS failed,
       count(CASE WHEN until_at IS NOT NULL AND until_at <= UTC_TIMESTAMP(6) THEN 1 END) AS expired
FROM   prints
WHERE  kind = ?;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Backlog */
       kind,
       count(*) AS ready
FROM   prints USE INDEX FOR GROUP BY ()
WHERE  (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL)
AND    tries > 0
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* askedq.Peek */
       id, kind, tries, body
FROM   prints IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  (until_at <= UTC_TIMESTAMP(6) OR until_at IS NULL)
AND    tries > 0
AND    kind = ?
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
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
SELECT /* askedq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'kind', 'varchar' UNION ALL
           SELECT 'until_at', 'datetime' UNION ALL
           SELECT 'who', 'varchar' UNION ALL
           SELECT 'tries', 'int' UNION ALL
           SELECT 'body', 'text'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'prints'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* askedq.Verify */
       'binlog_format is STATEMENT, which refuses writes to an InnoDB table at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'prints'
AND    have.engine = 'InnoDB'
AND    @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* askedq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'prints_ready' AS name, 'kind, id' AS columns, 'kind, id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'prints'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
-- printsq advises the same
ALTER TABLE prints ADD INDEX prints_ready USING BTREE (kind, id);
