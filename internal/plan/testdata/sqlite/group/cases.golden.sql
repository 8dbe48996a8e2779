-- Package casesq uses the table cases as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
--
-- Of the jobs that are alike in case_id, one runs at once; one claim writes at a time and counts what is running.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates cases_group and cases_line.
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
--   guarded      the running rows of a group are counted by the statement that takes the rows
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for case_id has it read rows of one group alone
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: worker OwnerName, 2: limit
UPDATE /* casesq.Claim */ cases
SET    until_at = unixepoch() + 300,
       owner_name = ?1,
       rev = rev + 1
WHERE  id IN (
           SELECT id
           FROM   cases
           WHERE  (until_at <= unixepoch() OR until_at IS NULL)
           AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (NOT EXISTS (SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    likelihood(alone = 1, 0.99)
               AND    likelihood(other.until_at IS NOT NULL, 0.99)
               AND    likelihood(other.until_at > unixepoch(), 0.99))
           AND cases.id = (SELECT other.id
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    likelihood(alone = 1, 0.99)
               AND    likelihood(other.until_at <= unixepoch() OR other.until_at IS NULL, 0.99)
               ORDER  BY other.id
               LIMIT  1)))
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, case_id, alone, until_at, rev;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: worker OwnerName
UPDATE /* casesq.Claim */ cases
SET    until_at = unixepoch() + 300,
       owner_name = ?1,
       rev = rev + 1
WHERE  id = (
           SELECT id
           FROM   cases
           WHERE  (until_at <= unixepoch() OR until_at IS NULL)
           AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR NOT EXISTS (SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    likelihood(alone = 1, 0.99)
               AND    likelihood(other.until_at IS NOT NULL, 0.99)
               AND    likelihood(other.until_at > unixepoch(), 0.99)))
           ORDER  BY id
           LIMIT  1)
RETURNING id, case_id, alone, until_at, rev;

-- sql/complete.sql
-- complete: running to done
-- fence: rev as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Rev
DELETE /* casesq.Complete */ FROM cases
WHERE  (id, rev) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS rev_held
           FROM   json_each(?1))
AND    +(until_at IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: rev as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Rev
UPDATE /* casesq.Fail */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS rev_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(rev = rev_held
      AND    until_at IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: rev as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Rev
UPDATE /* casesq.Requeue */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS rev_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(rev = rev_held
      AND    until_at IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: rev as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Rev
UPDATE /* casesq.Extend */ cases
SET    until_at = unixepoch() + 300,
       rev = rev + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS rev_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(rev = rev_held
      AND    until_at IS NOT NULL)
RETURNING id, until_at, rev;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new CaseID, 2: new Alone
INSERT /* casesq.Enqueue */ INTO cases
       (case_id, alone)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all CaseID Alone
INSERT /* casesq.EnqueueMany */ INTO cases
       (case_id, alone)
SELECT case_id_new, alone_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS case_id_new,
                  json_extract(value, '$[1]') AS alone_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* casesq.Stats */
       count(*) FILTER (WHERE (until_at <= unixepoch() OR until_at IS NULL)) AS ready,
       count(*) FILTER (WHERE until_at IS NOT NULL AND until_at > unixepoch()) AS running,
       count(*) FILTER (WHERE until_at IS NOT NULL AND until_at <= unixepoch()) AS expired
FROM   cases;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* casesq.Peek */
       id, case_id, alone, rev
FROM   cases
WHERE  (until_at <= unixepoch() OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (NOT EXISTS (SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    likelihood(alone = 1, 0.99)
               AND    likelihood(other.until_at IS NOT NULL, 0.99)
               AND    likelihood(other.until_at > unixepoch(), 0.99))
           AND cases.id = (SELECT other.id
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    likelihood(alone = 1, 0.99)
               AND    likelihood(other.until_at <= unixepoch() OR other.until_at IS NULL, 0.99)
               ORDER  BY other.id
               LIMIT  1)))
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* casesq.Verify */
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
WITH /* casesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('case_id', 'INTEGER'),
           ('alone', 'INTEGER'),
           ('until_at', 'INTEGER'),
           ('owner_name', 'TEXT'),
           ('rev', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('cases') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* casesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('cases_group', 'case_id', 'case_id', 'until_atisnotnull'),
           ('cases_line', 'case_id, id', 'case_id', '')
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
    FROM   pragma_index_list('cases') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: the running rows of a group
CREATE INDEX cases_group ON cases (case_id)
WHERE  until_at IS NOT NULL;

-- serves Claim: who is before a row in its group
CREATE INDEX cases_line ON cases (case_id, id);
