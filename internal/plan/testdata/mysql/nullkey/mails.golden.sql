-- Package mailsq uses the tables mails and mails_sending as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to mails_sending, whose unique key lets one worker have it.
--
-- The fence is at level status: a job can only be settled while its row is in mails_sending and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in mails_sending tells that it is gone.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to mails_sending, whose unique key lets one worker have it
-- note: the key is mail: unique, and no row with a null there is a job, as qgen:where says; there is no primary key
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, mail
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in mail (unique key mail): Fail or Requeue fails then, for all rows of the call, until one of the two is gone; Fail or Requeue of one job at a time tells which it is, and Complete ends it; enqueue_if: "not exists (select 1 from mails_sending running where running.mail = {new}.mail)" adds none while one like it runs

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then adds to mails_sending
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: mail (mail)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Claim */
       mail
FROM   mails FORCE INDEX (mail)
WHERE  (mail is not null)
ORDER  BY mail
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, a row of mails_sending for each of the rows that claim_lock.sql locked
-- locks: the rows it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Host, 2: list Mail
INSERT /* mailsq.Claim */ INTO mails_sending
       (mail, host)
SELECT held.mail, ?
FROM   mails AS held FORCE INDEX (mail)
WHERE  (held.mail IN (?));

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list Mail
SELECT /* mailsq.Claim */
       mail, host
FROM   mails_sending FORCE INDEX (mail)
WHERE  (mail IN (?));

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to mails_sending
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Mail
DELETE /* mailsq.Claim */ mails
FROM   mails FORCE INDEX (mail)
WHERE  (mail IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: host as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; host <=> host always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Mail Host
SELECT /* mailsq.Complete */
       mail
FROM   mails_sending FORCE INDEX (mail)
WHERE  ((mail, host) IN ((?, ?)))
AND    host <=> host
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; host <=> host always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Mail Host
DELETE /* mailsq.Complete */ mails_sending
FROM   mails_sending FORCE INDEX (mail)
WHERE  ((mail, host) IN ((?, ?)))
AND    host <=> host;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: host as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; host <=> host always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Mail Host
SELECT /* mailsq.Fail */
       mail
FROM   mails_sending FORCE INDEX (mail)
WHERE  ((mail, host) IN ((?, ?)))
AND    host <=> host
FOR    UPDATE;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to mails before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Mail Host
INSERT /* mailsq.Fail */ INTO mails
       (mail)
SELECT held.mail
FROM   mails_sending AS held FORCE INDEX (mail)
WHERE  ((held.mail, held.host) IN ((?, ?)));

-- sql/retry.sql
-- retry: running to ready
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; host <=> host always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Mail Host
DELETE /* mailsq.Fail */ mails_sending
FROM   mails_sending FORCE INDEX (mail)
WHERE  ((mail, host) IN ((?, ?)))
AND    host <=> host;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: host as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; host <=> host always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Mail Host
SELECT /* mailsq.Requeue */
       mail
FROM   mails_sending FORCE INDEX (mail)
WHERE  ((mail, host) IN ((?, ?)))
AND    host <=> host
FOR    UPDATE;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to mails before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list Mail Host
INSERT /* mailsq.Requeue */ INTO mails
       (mail)
SELECT held.mail
FROM   mails_sending AS held FORCE INDEX (mail)
WHERE  ((held.mail, held.host) IN ((?, ?)));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; host <=> host always holds and keeps the server from scanning the index alone
-- isolation: read committed
-- arguments: 1: list Mail Host
DELETE /* mailsq.Requeue */ mails_sending
FROM   mails_sending FORCE INDEX (mail)
WHERE  ((mail, host) IN ((?, ?)))
AND    host <=> host;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Mail
INSERT /* mailsq.Enqueue */ INTO mails
       (mail)
VALUES (?);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_list Mail
INSERT /* mailsq.EnqueueMany */ INTO mails
       (mail)
VALUES (?);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* mailsq.Stats */
       ready,
       running
FROM   (
           SELECT count(*) AS ready
           FROM   mails
           WHERE  (mail is not null)
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   mails_sending
           WHERE  (mail is not null)
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: mail (mail)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       mail
FROM   mails FORCE INDEX (mail)
WHERE  (mail is not null)
ORDER  BY mail
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
           SELECT 'mail' AS name, 'int' AS type UNION ALL
           SELECT 'host', 'varchar'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'mails_sending'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_columns_ready.sql
-- verify: columns of mails
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'mail' AS name, 'int' AS type
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'mails'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_kind_ready.sql
-- verify: kind of mails
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'mails'
AND    have.engine <> 'InnoDB';

-- sql/verify_index_ready.sql
-- verify: index of mails
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'mail' AS name, '' AS columns, '' AS least
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

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* mailsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'mails_sending'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: mail serves already
