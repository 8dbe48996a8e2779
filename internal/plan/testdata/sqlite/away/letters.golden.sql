-- Package lettersq uses the tables letters and letters_running as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to letters_running, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in letters_running tells that it is gone.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to letters_running, whose unique key lets one worker have it
-- note: rows are taken as they came, by column "id"; order 1 at column "due" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running, from letters to letters_running, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Mark, 2: limit
INSERT /* lettersq.Claim */ INTO letters_running
       (id, due, mark)
SELECT id, due, ?1
FROM   letters
WHERE  due <= printf('%011d', unixepoch())
ORDER  BY id
LIMIT  ?2
RETURNING id, due, mark;

-- sql/claim_1.sql
-- claim: ready to running, from letters to letters_running, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Mark
INSERT /* lettersq.Claim */ INTO letters_running
       (id, due, mark)
SELECT id, due, ?1
FROM   letters
WHERE  due <= printf('%011d', unixepoch())
ORDER  BY id
LIMIT  1
RETURNING id, due, mark;

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to letters_running
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* lettersq.Claim */ FROM letters
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* lettersq.Complete */ FROM letters_running
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* lettersq.Fail */ FROM letters_running
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
SELECT /* lettersq.Requeue */
       id
FROM   letters_running
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to letters before requeue.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: delay, 2: batch_all ID Mark
INSERT /* lettersq.Requeue */ INTO letters
       (id, due)
SELECT held.id,
       CASE WHEN ?1 > 0.0 THEN printf('%011d', max(0, min(CAST(unixepoch() + ?1 AS INTEGER), 99999999999))) ELSE held.due END
FROM   letters_running AS held
WHERE  (held.id, held.mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?2));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* lettersq.Requeue */ FROM letters_running
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* lettersq.Reserve */ FROM letters_running
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Due
INSERT /* lettersq.Enqueue */ INTO letters
       (due)
VALUES (coalesce(?1, printf('%011d', unixepoch())))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Due
INSERT /* lettersq.EnqueueMany */ INTO letters
       (due)
SELECT coalesce(due_new, printf('%011d', unixepoch()))
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS due_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* lettersq.Stats */
       ready,
       delayed,
       oldest_ready,
       running
FROM   (
           SELECT count(*) FILTER (WHERE due <= printf('%011d', unixepoch())) AS ready,
                  count(*) FILTER (WHERE due > printf('%011d', unixepoch())) AS delayed,
                  (unixepoch() - CAST(min(due) FILTER (WHERE due <= printf('%011d', unixepoch())) AS INTEGER)) AS oldest_ready
           FROM   letters
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   letters_running
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       id, due
FROM   letters
WHERE  due <= printf('%011d', unixepoch())
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
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
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('due', 'TEXT'),
           ('mark', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('letters_running') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_ready.sql
-- verify: columns of letters
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('due', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('letters') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
