-- Package mailsq uses the table mails as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken.
--
-- The fence is at level token: every claim adds a row to runs and leaves its id in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its id.
--
-- It reads candidates and takes them one by one, each by an UPDATE that compares the old state; the engine locks the table while one runs, and a caller's transaction cannot take it back. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table is of the engine MyISAM, which has no transactions and locks no rows: what is written stays written, whatever becomes of the transaction of the caller's. The package works over InnoDB as well, and Verify takes that; generated again from such a DDL it settles many jobs at once.
--
-- Besides the queue's own rows it writes runs (Claim). An engine without transactions keeps what is written there or in the queue's own rows, also where the operation fails behind it. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       from=companion adds a row between finding jobs and marking them
--   lease_table  from=companion adds a row between finding jobs and marking them
--   hold         from=companion adds a row between finding jobs and marking them
--   partition    from=companion adds a row between finding jobs and marking them
--   returning    from=companion adds a row between finding jobs and marking them
--   block        from=companion adds a row between finding jobs and marking them
--   token        from=companion adds a row between finding jobs and marking them
--   lock_update  the engine MyISAM has no transactions and locks no rows: FOR UPDATE would give every worker the same ones
--   advisory     from=companion adds a row between finding jobs and marking them
-- * guarded      the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken
--   pop          from=companion adds a row between finding jobs and marking them
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: mails is a table of MyISAM, which has no transactions: a crash can leave a change of runs made and that of mails not
-- note: warning: runs is a table of MyISAM, which has no transactions: a crash can leave a change of runs made and that of mails not
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Claim */
       id
FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?;

-- sql/claim_batch.sql
-- claim: one row of runs for the rows that claim_pick.sql named; claim.sql then writes its id to them
-- locks: the table, while the statement runs
-- index: none; it reads nothing
-- isolation: read committed
INSERT /* mailsq.Claim */ INTO runs
       (began)
VALUES (UTC_TIMESTAMP(0));

-- sql/claim.sql
-- claim: ready to running, of one of the rows that claim_pick.sql named, unless somebody took it since
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: token Run, 2: list ID
UPDATE /* mailsq.Claim */ mails FORCE INDEX (PRIMARY)
SET    state = 'A',
       run = ?
WHERE  (id IN (?))
AND    state = 'N';

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* mailsq.Claim */
       id, run
FROM   mails FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/claim_batch_undo.sql
-- claim: deletes the row of runs again where others were quicker and claim.sql took none
-- locks: the table, while the statement runs
-- index: the primary key of runs
-- isolation: read committed
-- arguments: 1: token ID
DELETE /* mailsq.Claim */ FROM runs
WHERE  id = ?;

-- sql/complete_held.sql
-- complete: reads whether the claim is still the caller's, where complete.sql changed nothing
-- fence: run as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Run
SELECT /* mailsq.Complete */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, run) IN ((?, ?)))
AND    state = 'A';

-- sql/complete.sql
-- complete: running to done
-- fence: run as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Run
UPDATE /* mailsq.Complete */ mails FORCE INDEX (PRIMARY)
SET    state = 'D'
WHERE  ((id, run) IN ((?, ?)))
AND    state = 'A';

-- sql/retry_held.sql
-- retry: reads whether the claim is still the caller's, where retry.sql changed nothing
-- fence: run as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Run
SELECT /* mailsq.Fail */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, run) IN ((?, ?)))
AND    state = 'A';

-- sql/retry.sql
-- retry: running to ready
-- fence: run as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Run
UPDATE /* mailsq.Fail */ mails FORCE INDEX (PRIMARY)
SET    state = 'N',
       run = NULL
WHERE  ((id, run) IN ((?, ?)))
AND    state = 'A';

-- sql/requeue_held.sql
-- requeue: reads whether the claim is still the caller's, where requeue.sql changed nothing
-- fence: run as the claim left it
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Run
SELECT /* mailsq.Requeue */
       id
FROM   mails FORCE INDEX (PRIMARY)
WHERE  ((id, run) IN ((?, ?)))
AND    state = 'A';

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: run as the claim left it
-- locks: the table, while the statement runs
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Run
UPDATE /* mailsq.Requeue */ mails FORCE INDEX (PRIMARY)
SET    state = 'N',
       run = NULL
WHERE  ((id, run) IN ((?, ?)))
AND    state = 'A';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the table, while the statement runs
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ mails
FROM   (
           SELECT id
           FROM   mails
           WHERE  state = 'D'
           LIMIT  ?
           FOR    UPDATE
       ) AS picked
       STRAIGHT_JOIN mails ON mails.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the table, while the statement runs
INSERT /* mailsq.Enqueue */ INTO mails
       (state)
VALUES ('N');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN state = 'N' THEN 1 END) AS ready,
       count(CASE WHEN state = 'A' THEN 1 END) AS running,
       count(CASE WHEN state = 'D' THEN 1 END) AS done
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, id)
SELECT /* mailsq.Backlog */
       count(*) AS ready
FROM   mails
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id
FROM   mails IGNORE INDEX FOR ORDER BY (PRIMARY)
WHERE  state = 'N'
ORDER  BY id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'state', 'char' UNION ALL
           SELECT 'run', 'int'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'mails'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of runs
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'int' AS type UNION ALL
           SELECT 'began', 'datetime'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'runs'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mailsq.Verify */
       'binlog_format is STATEMENT, which refuses writes to an InnoDB table at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'mails'
AND    have.engine = 'InnoDB'
AND    @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'mails_ready' AS name, 'state, id' AS columns, 'state, id' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'mails'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
ALTER TABLE mails ADD INDEX mails_ready USING BTREE (state, id);
