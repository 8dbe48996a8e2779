-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: no order is said: rows are taken in the order of the key, tenant, message
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where (exists (select 1 from tenants t where t.id = {new}.tenant and t.active = 1)), and locks nothing that this reads: it may have changed when the job is there
-- note: enqueue=absent leaves a job out where a row is like it in tenant, message (primary key)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (tenant, message)
-- arguments: 1: limit
UPDATE /* mailsq.Claim */ mails
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  rowid IN (
           SELECT rowid
           FROM   mails
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
           ORDER  BY tenant, message
           LIMIT  ?1)
RETURNING tenant, message, body, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: the primary key (tenant, message)
UPDATE /* mailsq.Claim */ mails
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  rowid = (
           SELECT rowid
           FROM   mails
           WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
           ORDER  BY tenant, message
           LIMIT  1)
RETURNING tenant, message, body, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Tenant Message Till
DELETE /* mailsq.Complete */ FROM mails
WHERE  (tenant, message, till) IN (
           SELECT json_extract(value, '$[0]') AS tenant_held,
                  json_extract(value, '$[1]') AS message_held,
                  json_extract(value, '$[2]') AS till_held
           FROM   json_each(?1))
AND    +(till IS NOT NULL)
RETURNING tenant, message;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Tenant Message Till
DELETE /* mailsq.Fail */ FROM mails
WHERE  (tenant, message, till) IN (
           SELECT json_extract(value, '$[0]') AS tenant_held,
                  json_extract(value, '$[1]') AS message_held,
                  json_extract(value, '$[2]') AS till_held
           FROM   json_each(?1))
AND    +(till IS NOT NULL)
RETURNING tenant, message;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Tenant Message Till
UPDATE /* mailsq.Requeue */ mails
SET    till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS tenant_held,
                  json_extract(value, '$[1]') AS message_held,
                  json_extract(value, '$[2]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  tenant = tenant_held
AND    message = message_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING tenant, message;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Tenant Message Till
UPDATE /* mailsq.Extend */ mails
SET    till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS tenant_held,
                  json_extract(value, '$[1]') AS message_held,
                  json_extract(value, '$[2]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  tenant = tenant_held
AND    message = message_held
AND    +(till = till_held
      AND    till IS NOT NULL)
RETURNING tenant, message, till;

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none, unless a row stands in its way by a unique key: then it returns none
-- locks: the database for writing, while the statement runs
-- index: whichever finds the rows of enqueue_if
-- arguments: 1: new Tenant, 2: new Message, 3: new Body
INSERT /* mailsq.Enqueue */ INTO mails
       (tenant, message, body)
SELECT ?1, ?2, ?3
WHERE  (exists (select 1 from tenants t where t.id = ?1 and t.active = 1))
ON     CONFLICT DO NOTHING
RETURNING tenant, message;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS running,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (tenant, message)
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       tenant, message, body
FROM   mails
WHERE  (till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) OR till IS NULL)
ORDER  BY tenant, message
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
    VALUES ('tenant', 'int'),
           ('message', 'text'),
           ('body', 'text'),
           ('till', 'integer')
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
