-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> running
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> running, when its claim expired
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them running.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready and mails_expired.
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
-- note: on retry, column "owner" stays as it is, as qgen:on says, and does not get null as qgen:worker would
-- note: on recover, column "owner" stays as it is, as qgen:on says, and does not get null as qgen:worker would
-- note: warning: Recover leaves a job running and not ready, since qgen:on recover leaves column "owner" as it is
-- note: warning: Fail leaves a job running and not ready, since qgen:on retry leaves column "owner" as it is
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE owner IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Owner, 2: limit
UPDATE /* mailsq.Claim */ mails
SET    owner = ?1,
       since = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  owner IS NULL
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, owner, since, error;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE owner IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Owner
UPDATE /* mailsq.Claim */ mails
SET    owner = ?1,
       since = unixepoch()
WHERE  id = (
           SELECT id
           FROM   mails
           WHERE  owner IS NULL
           ORDER  BY id
           LIMIT  1)
RETURNING id, owner, since, error;

-- sql/complete.sql
-- complete: running to done
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since Owner
DELETE /* mailsq.Complete */ FROM mails
WHERE  (id, since, owner) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?1))
AND    +(owner IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running stays running
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID Since Owner
UPDATE /* mailsq.Fail */ mails
SET    since = NULL,
       error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    owner = owner_held
      AND    owner IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since Owner
UPDATE /* mailsq.Requeue */ mails
SET    owner = NULL,
       since = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    owner = owner_held
      AND    owner IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since, owner as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since Owner
UPDATE /* mailsq.Extend */ mails
SET    since = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held,
                  json_extract(value, '$[2]') AS owner_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    owner = owner_held
      AND    owner IS NOT NULL)
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to running
-- locks: the database for writing, while the statement runs
-- index: (since) WHERE owner IS NOT NULL; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    since = NULL
WHERE  id IN (
           SELECT id
           FROM   mails
           WHERE  owner IS NOT NULL
           AND    since <= unixepoch() - 3600
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* mailsq.Enqueue */ INTO mails
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE owner IS NULL) AS ready,
       count(*) FILTER (WHERE owner IS NOT NULL) AS running,
       count(*) FILTER (WHERE owner IS NOT NULL AND since <= unixepoch() - 3600) AS expired,
       (unixepoch() - min(since) FILTER (WHERE owner IS NOT NULL)) AS oldest_running
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE owner IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, error
FROM   mails
WHERE  owner IS NULL
ORDER  BY id
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
    VALUES ('id', 'INTEGER'),
           ('owner', 'TEXT'),
           ('since', 'INTEGER'),
           ('error', 'TEXT')
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* mailsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('mails_ready', 'id', 'id', 'ownerisnull'),
           ('mails_expired', 'since', 'since', 'ownerisnotnull')
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
    FROM   pragma_index_list('mails') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX mails_ready ON mails (id)
WHERE  owner IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX mails_expired ON mails (since)
WHERE  owner IS NOT NULL;
