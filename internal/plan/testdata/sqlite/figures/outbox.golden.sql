-- Package outboxq uses the table outbox as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, when its claim has run out, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates outbox_ready.
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
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: on enqueue, column "last" stays as it is, as qgen:on says, and does not get null as qgen:claimed would
-- note: on retry, column "last" stays as it is, as qgen:on says, and does not get null as qgen:claimed would
-- note: on fail, column "last" stays as it is, as qgen:on says, and does not get null as qgen:claimed would
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "attempts" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE sent = 0 AND attempts < 5; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* outboxq.Claim */ outbox
SET    attempts = attempts + 1,
       "last" = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   outbox
           WHERE  sent = 0
           AND    ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL)
           AND    attempts < 5
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, attempts, "last";

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE sent = 0 AND attempts < 5; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* outboxq.Claim */ outbox
SET    attempts = attempts + 1,
       "last" = unixepoch()
WHERE  id = (
           SELECT id
           FROM   outbox
           WHERE  sent = 0
           AND    ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL)
           AND    attempts < 5
           ORDER  BY id
           LIMIT  1)
RETURNING id, attempts, "last";

-- sql/complete.sql
-- complete: running to done
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts
UPDATE /* outboxq.Complete */ outbox
SET    sent = 1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    sent = 0
      AND    "last" IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running until the claim has run out, one try used
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts
UPDATE /* outboxq.Fail */ outbox
SET    sent = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    sent = 0
      AND    "last" IS NOT NULL)
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts
UPDATE /* outboxq.Fail */ outbox
SET    sent = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    sent = 0
      AND    "last" IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts
UPDATE /* outboxq.Requeue */ outbox
SET    attempts = attempts - 1,
       "last" = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    sent = 0
      AND    "last" IS NOT NULL)
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Attempts
UPDATE /* outboxq.Extend */ outbox
SET    "last" = unixepoch()
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS attempts_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(attempts = attempts_held
      AND    sent = 0
      AND    "last" IS NOT NULL)
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* outboxq.Redrive */ outbox
SET    attempts = 0,
       "last" = NULL
WHERE  id IN (
           SELECT id
           FROM   outbox
           WHERE  sent = 0
           AND    ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL)
           AND    attempts >= 5
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on ("last") WHERE sent = 1 would find them
-- arguments: 1: older, 2: limit
DELETE /* outboxq.Purge */ FROM outbox
WHERE  id IN (
           SELECT id
           FROM   outbox
           WHERE  sent = 1
           AND    "last" <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on ("last") WHERE sent = 0 AND attempts >= 5 would find them
-- arguments: 1: older, 2: limit
DELETE /* outboxq.Purge */ FROM outbox
WHERE  id IN (
           SELECT id
           FROM   outbox
           WHERE  sent = 0
           AND    ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL)
           AND    attempts >= 5
           AND    "last" <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* outboxq.Enqueue */ INTO outbox
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* outboxq.Stats */
       count(*) FILTER (WHERE sent = 0 AND ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL) AND attempts < 5) AS ready,
       count(*) FILTER (WHERE sent = 0 AND "last" IS NOT NULL AND "last" > CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER)) AS running,
       count(*) FILTER (WHERE sent = 1) AS done,
       count(*) FILTER (WHERE sent = 0 AND ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL) AND attempts >= 5) AS failed,
       count(*) FILTER (WHERE sent = 0 AND "last" IS NOT NULL AND attempts > 0 AND "last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER)) AS expired,
       (unixepoch() - min("last") FILTER (WHERE sent = 0 AND "last" IS NOT NULL AND "last" > CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER))) AS oldest_running
FROM   outbox;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE sent = 0 AND attempts < 5; it reads others as well
SELECT /* outboxq.Backlog */
       count(*) AS ready
FROM   outbox
WHERE  sent = 0
AND    ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL)
AND    attempts < 5;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE sent = 0 AND attempts < 5; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* outboxq.Peek */
       id, attempts
FROM   outbox
WHERE  sent = 0
AND    ("last" <= CAST(unixepoch() - (case when attempts = 0 then 0 else 1800 end) AS INTEGER) OR "last" IS NULL)
AND    attempts < 5
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* outboxq.Verify */
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
WITH /* outboxq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('sent', 'INTEGER'),
           ('attempts', 'INTEGER'),
           ('last', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('outbox') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* outboxq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('outbox_ready', 'id', 'id', 'sent=0andattempts<5')
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
    FROM   pragma_index_list('outbox') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX outbox_ready ON outbox (id)
WHERE  sent = 0
AND    attempts < 5;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
