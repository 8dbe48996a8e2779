-- Package ownedq uses the table runs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: runs_new (id) WHERE state = 'new'
-- arguments: 1: param owner string, 2: limit
UPDATE /* ownedq.Claim */ runs
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   runs INDEXED BY runs_new
           WHERE  state = 'new'
           AND    (exists (select 1 from accounts a where a.id = runs.account and a.owner = ?1))
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, account, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: runs_new (id) WHERE state = 'new'
-- arguments: 1: param owner string
UPDATE /* ownedq.Claim */ runs
SET    state = 'busy',
       till = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   runs INDEXED BY runs_new
           WHERE  state = 'new'
           AND    (exists (select 1 from accounts a where a.id = runs.account and a.owner = ?1))
           ORDER  BY id
           LIMIT  1)
RETURNING id, account, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* ownedq.Complete */ runs
SET    state = 'done',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* ownedq.Fail */ runs
SET    state = 'new',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* ownedq.Requeue */ runs
SET    state = 'new',
       till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* ownedq.Extend */ runs
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held
      AND    state = 'busy')
RETURNING id, till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: runs_busy (till) WHERE state = 'busy'
-- arguments: 1: limit
UPDATE /* ownedq.Recover */ runs
SET    state = 'new',
       till = NULL
WHERE  id IN (
           SELECT id
           FROM   runs INDEXED BY runs_busy
           WHERE  state = 'busy'
           AND    till <= unixepoch()
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- arguments: 1: limit
DELETE /* ownedq.Purge */ FROM runs
WHERE  id IN (
           SELECT id
           FROM   runs
           WHERE  state = 'done'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Account
INSERT /* ownedq.Enqueue */ INTO runs
       (account, state)
VALUES (?1, 'new')
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Account
INSERT /* ownedq.EnqueueMany */ INTO runs
       (account, state)
SELECT account_new, 'new'
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS account_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ownedq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'busy' AND till <= unixepoch()) AS expired
FROM   runs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: runs_new (id) WHERE state = 'new'
SELECT /* ownedq.Backlog */
       count(*) AS ready
FROM   runs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: runs_new (id) WHERE state = 'new'
-- arguments: 1: param owner string, 2: limit
SELECT /* ownedq.Peek */
       id, account
FROM   runs INDEXED BY runs_new
WHERE  state = 'new'
AND    (exists (select 1 from accounts a where a.id = runs.account and a.owner = ?1))
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ownedq.Verify */
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
WITH /* ownedq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('account', 'integer'),
           ('state', 'text'),
           ('till', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('runs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* ownedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('runs_new', '', '', ''),
           ('runs_busy', '', '', '')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('runs') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over: runs_new serves already

-- serves Recover: claims that ran out: runs_busy serves already
