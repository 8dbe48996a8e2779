-- Package filesq uses the tables files and files_acquired as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in files_acquired tells that it is gone.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in path (unique key sqlite_autoindex_files_1): Fail or Requeue fails then, for all rows of the call, until one of the two is gone; Fail or Requeue of one job at a time tells which it is, and Complete ends it; enqueue_if: "not exists (select 1 from files_acquired running where running.path = {new}.path)" adds none while one like it runs
-- note: enqueue=absent leaves a job out where a row is like it in path (unique key sqlite_autoindex_files_1)
-- note: enqueue=absent looks at files alone: a job that runs is a row of files_acquired, and keeps none out

-- sql/claim.sql
-- claim: ready to running, from files to files_acquired, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Mark, 2: limit
INSERT /* filesq.Claim */ INTO files_acquired
       (id, path, mark)
SELECT id, path, ?1
FROM   files NOT INDEXED
ORDER  BY id
LIMIT  ?2
RETURNING id, path, mark;

-- sql/claim_1.sql
-- claim: ready to running, from files to files_acquired, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: token Mark
INSERT /* filesq.Claim */ INTO files_acquired
       (id, path, mark)
SELECT id, path, ?1
FROM   files NOT INDEXED
ORDER  BY id
LIMIT  1
RETURNING id, path, mark;

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to files_acquired
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* filesq.Claim */ FROM files
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* filesq.Complete */ FROM files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
SELECT /* filesq.Fail */
       id
FROM   files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to files before retry.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Mark
INSERT /* filesq.Fail */ INTO files
       (id, path)
SELECT held.id, held.path
FROM   files_acquired AS held
WHERE  (held.id, held.mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* filesq.Fail */ FROM files_acquired
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
SELECT /* filesq.Requeue */
       id
FROM   files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to files before requeue.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Mark
INSERT /* filesq.Requeue */ INTO files
       (id, path)
SELECT held.id, held.path
FROM   files_acquired AS held
WHERE  (held.id, held.mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Mark
DELETE /* filesq.Requeue */ FROM files_acquired
WHERE  (id, mark) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS mark_held
           FROM   json_each(?1))
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* filesq.Reserve */ FROM files_acquired
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it returns none
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Path
INSERT /* filesq.Enqueue */ INTO files
       (path)
VALUES (?1)
ON     CONFLICT DO NOTHING
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       ready,
       running
FROM   (
           SELECT count(*) AS ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* filesq.Peek */
       id, path
FROM   files NOT INDEXED
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
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
WITH /* filesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('path', 'TEXT'),
           ('mark', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('files_acquired') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_ready.sql
-- verify: columns of files
-- locks: none
WITH /* filesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('path', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('files') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
