-- Package opsq uses the table operation as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: a row whose column "account" is null is taken by no claim; any=null lets it suit everyone
-- note: the fence is the count in column "tries" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: operation_claim (account, state, id); the ready rows are then sorted; no statement names it, so that another which leads to ready rows may be taken
-- arguments: 1: param account int64, 2: limit
UPDATE /* opsq.Claim */ operation
SET    tries = tries + 1,
       state = 'executing'
WHERE  id IN (
           SELECT id
           FROM   operation
           WHERE  state IS NULL
           AND    account = ?1
           ORDER  BY (CASE name WHEN 'body' THEN -1 WHEN 'sync' THEN 1 ELSE 0 END), id
           LIMIT  ?2)
RETURNING id, account, folder, name, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: operation_claim (account, state, id); the ready rows are then sorted; no statement names it, so that another which leads to ready rows may be taken
-- arguments: 1: param account int64
UPDATE /* opsq.Claim */ operation
SET    tries = tries + 1,
       state = 'executing'
WHERE  id = (
           SELECT id
           FROM   operation
           WHERE  state IS NULL
           AND    account = ?1
           ORDER  BY (CASE name WHEN 'body' THEN -1 WHEN 'sync' THEN 1 ELSE 0 END), id
           LIMIT  1)
RETURNING id, account, folder, name, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
DELETE /* opsq.Complete */ FROM operation
WHERE  (id, tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1))
AND    +(state = 'executing')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* opsq.Fail */ operation
SET    state = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'executing')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
DELETE /* opsq.Fail */ FROM operation
WHERE  (id, tries) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1))
AND    +(state = 'executing')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries
UPDATE /* opsq.Requeue */ operation
SET    tries = tries - 1,
       state = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    state = 'executing')
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Account, 2: new Folder, 3: new Name
INSERT /* opsq.Enqueue */ INTO operation
       (account, folder, name, tries)
VALUES (?1, ?2, ?3, 0)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Account Folder Name
INSERT /* opsq.EnqueueMany */ INTO operation
       (account, folder, name, tries)
SELECT account_new, folder_new, name_new, 0
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS account_new,
                  json_extract(value, '$[1]') AS folder_new,
                  json_extract(value, '$[2]') AS name_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* opsq.Stats */
       count(*) FILTER (WHERE state IS NULL) AS ready,
       count(*) FILTER (WHERE state = 'executing') AS running
FROM   operation;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same account is for
-- locks: none
-- index: operation_account (account)
-- arguments: 1: param account int64
SELECT /* opsq.StatsOf */
       count(*) FILTER (WHERE state IS NULL) AS ready,
       count(*) FILTER (WHERE state = 'executing') AS running
FROM   operation
WHERE  account = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by account
-- locks: none
-- index: operation_state (state)
SELECT /* opsq.Backlog */
       account,
       count(*) AS ready
FROM   operation
WHERE  state IS NULL
GROUP  BY +account
ORDER  BY +account;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: operation_claim (account, state, id); the ready rows are then sorted; no statement names it, so that another which leads to ready rows may be taken
-- arguments: 1: param account int64, 2: limit
SELECT /* opsq.Peek */
       id, account, folder, name, tries
FROM   operation
WHERE  state IS NULL
AND    account = ?1
ORDER  BY (CASE name WHEN 'body' THEN -1 WHEN 'sync' THEN 1 ELSE 0 END), id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* opsq.Verify */
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
WITH /* opsq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('account', 'integer'),
           ('folder', 'integer'),
           ('name', 'text'),
           ('tries', 'integer'),
           ('state', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('operation') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* opsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('operation_claim', 'account, state', 'account, state', '')
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
    FROM   pragma_index_list('operation') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: the ready rows of the values that are asked for, which are then sorted, since the order begins with an expression; no statement names it, so that another which leads to ready rows may be taken: operation_claim serves already
