-- Package mailsq uses the tables mails and mails_sending as a queue of jobs on SQLite 3.38 and later.
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
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in mails_sending tells that it is gone.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to mails_sending, whose unique key lets one worker have it
-- note: the key is mail: unique, and no row with a null there is a job, as qgen:where says; there is no primary key
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, mail
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in mail (unique key sqlite_autoindex_mails_1): Fail or Requeue fails then, for all rows of the call, until one of the two is gone; Fail or Requeue of one job at a time tells which it is, and Complete ends it; enqueue_if: "not exists (select 1 from mails_sending running where running.mail = {new}.mail)" adds none while one like it runs

-- sql/claim.sql
-- claim: ready to running, from mails to mails_sending, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the unique key (mail)
-- arguments: 1: worker Host, 2: limit
INSERT /* mailsq.Claim */ INTO mails_sending
       (mail, host)
SELECT mail, ?1
FROM   mails
WHERE  (mail is not null)
ORDER  BY mail
LIMIT  ?2
RETURNING mail, host;

-- sql/claim_1.sql
-- claim: ready to running, from mails to mails_sending, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the unique key (mail)
-- arguments: 1: worker Host
INSERT /* mailsq.Claim */ INTO mails_sending
       (mail, host)
SELECT mail, ?1
FROM   mails
WHERE  (mail is not null)
ORDER  BY mail
LIMIT  1
RETURNING mail, host;

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to mails_sending
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all Mail
DELETE /* mailsq.Claim */ FROM mails
WHERE  mail IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete.sql
-- complete: running to done
-- fence: host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Mail Host
DELETE /* mailsq.Complete */ FROM mails_sending
WHERE  (mail, host) IN (
           SELECT json_extract(value, '$[0]') AS mail_held,
                  json_extract(value, '$[1]') AS host_held
           FROM   json_each(?1))
RETURNING mail;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Mail Host
SELECT /* mailsq.Fail */
       mail
FROM   mails_sending
WHERE  (mail, host) IN (
           SELECT json_extract(value, '$[0]') AS mail_held,
                  json_extract(value, '$[1]') AS host_held
           FROM   json_each(?1));

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to mails before retry.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all Mail Host
INSERT /* mailsq.Fail */ INTO mails
       (mail)
SELECT held.mail
FROM   mails_sending AS held
WHERE  (held.mail, held.host) IN (
           SELECT json_extract(value, '$[0]') AS mail_held,
                  json_extract(value, '$[1]') AS host_held
           FROM   json_each(?1));

-- sql/retry.sql
-- retry: running to ready
-- fence: host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Mail Host
DELETE /* mailsq.Fail */ FROM mails_sending
WHERE  (mail, host) IN (
           SELECT json_extract(value, '$[0]') AS mail_held,
                  json_extract(value, '$[1]') AS host_held
           FROM   json_each(?1))
RETURNING mail;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Mail Host
SELECT /* mailsq.Requeue */
       mail
FROM   mails_sending
WHERE  (mail, host) IN (
           SELECT json_extract(value, '$[0]') AS mail_held,
                  json_extract(value, '$[1]') AS host_held
           FROM   json_each(?1));

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to mails before requeue.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all Mail Host
INSERT /* mailsq.Requeue */ INTO mails
       (mail)
SELECT held.mail
FROM   mails_sending AS held
WHERE  (held.mail, held.host) IN (
           SELECT json_extract(value, '$[0]') AS mail_held,
                  json_extract(value, '$[1]') AS host_held
           FROM   json_each(?1));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: host as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Mail Host
DELETE /* mailsq.Requeue */ FROM mails_sending
WHERE  (mail, host) IN (
           SELECT json_extract(value, '$[0]') AS mail_held,
                  json_extract(value, '$[1]') AS host_held
           FROM   json_each(?1))
RETURNING mail;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* mailsq.Reserve */ FROM mails_sending
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Mail
INSERT /* mailsq.Enqueue */ INTO mails
       (mail)
VALUES (?1)
RETURNING mail;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Mail
INSERT /* mailsq.EnqueueMany */ INTO mails
       (mail)
SELECT mail_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS mail_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING mail;

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
-- index: the unique key (mail)
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       mail
FROM   mails
WHERE  (mail is not null)
ORDER  BY mail
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('mail', 'INTEGER'),
           ('host', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails_sending') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_ready.sql
-- verify: columns of mails
-- locks: none
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('mail', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
