-- Package tokenq uses the table email_outbox as a queue of jobs on SQLite 3.35 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy token: strategy=token is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates email_outbox_ready and email_outbox_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=token is asked for
--   lease_table  strategy=token is asked for
--   hold         strategy=token is asked for
--   partition    strategy=token is asked for
--   returning    strategy=token is asked for
--   block        strategy=token is asked for
-- * token        strategy=token is asked for
--   lock_update  strategy=token is asked for
--   advisory     strategy=token is asked for
--   guarded      strategy=token is asked for
--   pop          strategy=token is asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "msg_id"; order 1 at column "not_before" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (kind, msg_id, not_before) WHERE state = 'ready'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Token, 2: param kind string, 3: limit
UPDATE /* tokenq.Claim */ email_outbox
SET    state = 'running',
       lease_till = CAST(strftime('%s', 'now') + 300 AS INTEGER),
       token = ?1,
       tries = tries + 1
WHERE  msg_id IN (
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'ready'
           AND    (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)
           AND    kind = ?2
           ORDER  BY msg_id
           LIMIT  ?3);

-- sql/claim_read.sql
-- claim: reads back the rows that the token marks
-- locks: none
-- index: none; it reads the table
-- arguments: 1: token Token
SELECT /* tokenq.Claim */
       msg_id, kind, created_at, not_before, lease_till, token, tries, last_error, body
FROM   email_outbox
WHERE  token = ?1
AND    state = 'running';

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MsgID Token
UPDATE /* tokenq.Complete */ email_outbox
SET    state = 'done',
       lease_till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS msg_id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  msg_id = msg_id_held
AND    +(token = token_held
      AND    state = 'running')
RETURNING msg_id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch_all MsgID Token
UPDATE /* tokenq.Fail */ email_outbox
SET    state = 'ready',
       not_before = CAST(strftime('%s', 'now') + ?1 AS INTEGER),
       lease_till = NULL,
       token = NULL,
       last_error = ?2
FROM   (
           SELECT json_extract(value, '$[0]') AS msg_id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?3)
       ) AS job
WHERE  msg_id = msg_id_held
AND    +(token = token_held
      AND    state = 'running')
RETURNING msg_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all MsgID Token
UPDATE /* tokenq.Fail */ email_outbox
SET    state = 'failed',
       lease_till = NULL,
       last_error = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS msg_id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  msg_id = msg_id_held
AND    +(token = token_held
      AND    state = 'running')
RETURNING msg_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all MsgID Token
UPDATE /* tokenq.Requeue */ email_outbox
SET    state = 'ready',
       not_before = CASE WHEN ?1 > 0.0 THEN CAST(strftime('%s', 'now') + ?1 AS INTEGER) ELSE not_before END,
       lease_till = NULL,
       token = NULL,
       tries = tries - 1
FROM   (
           SELECT json_extract(value, '$[0]') AS msg_id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?2)
       ) AS job
WHERE  msg_id = msg_id_held
AND    +(token = token_held
      AND    state = 'running')
RETURNING msg_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all MsgID Token
UPDATE /* tokenq.Extend */ email_outbox
SET    lease_till = CAST(strftime('%s', 'now') + 300 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS msg_id_held,
                  json_extract(value, '$[1]') AS token_held
           FROM   json_each(?1)
       ) AS job
WHERE  msg_id = msg_id_held
AND    +(token = token_held
      AND    state = 'running')
RETURNING msg_id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE state = 'running'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* tokenq.Recover */ email_outbox
SET    state = 'ready',
       lease_till = NULL,
       token = NULL
WHERE  msg_id IN (
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'running'
           AND    tries < 5
           AND    lease_till <= CAST(strftime('%s', 'now') AS INTEGER)
           LIMIT  ?1);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE state = 'running'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* tokenq.Recover */ email_outbox
SET    state = 'failed',
       lease_till = NULL,
       last_error = 'the claim ran out'
WHERE  msg_id IN (
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'running'
           AND    tries >= 5
           AND    lease_till <= CAST(strftime('%s', 'now') AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* tokenq.Redrive */ email_outbox
SET    state = 'ready',
       lease_till = NULL,
       token = NULL,
       tries = 0
WHERE  msg_id IN (
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'failed'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (created_at) WHERE state = 'done' would find them
-- arguments: 1: older, 2: limit
DELETE /* tokenq.Purge */ FROM email_outbox
WHERE  msg_id IN (
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'done'
           AND    created_at <= CAST(strftime('%s', 'now') - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (created_at) WHERE state = 'failed' would find them
-- arguments: 1: older, 2: limit
DELETE /* tokenq.Purge */ FROM email_outbox
WHERE  msg_id IN (
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'failed'
           AND    created_at <= CAST(strftime('%s', 'now') - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Kind, 2: new NotBefore, 3: new Body
INSERT /* tokenq.Enqueue */ INTO email_outbox
       (kind, created_at, not_before, body)
VALUES (?1, CAST(strftime('%s', 'now') AS INTEGER), ?2, ?3)
RETURNING msg_id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Kind NotBefore Body
INSERT /* tokenq.EnqueueMany */ INTO email_outbox
       (kind, created_at, not_before, body)
SELECT kind_new, CAST(strftime('%s', 'now') AS INTEGER), not_before_new, body_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS kind_new,
                  json_extract(value, '$[1]') AS not_before_new,
                  json_extract(value, '$[2]') AS body_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING msg_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tokenq.Stats */
       count(*) FILTER (WHERE state = 'ready' AND (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'ready' AND not_before > CAST(strftime('%s', 'now') AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE state = 'running' AND lease_till <= CAST(strftime('%s', 'now') AS INTEGER)) AS expired,
       (CAST(strftime('%s', 'now') AS INTEGER) - min(created_at) FILTER (WHERE state = 'ready' AND (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* tokenq.StatsOf */
       count(*) FILTER (WHERE state = 'ready' AND (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'ready' AND not_before > CAST(strftime('%s', 'now') AS INTEGER)) AS delayed,
       count(*) FILTER (WHERE state = 'running' AND lease_till <= CAST(strftime('%s', 'now') AS INTEGER)) AS expired,
       (CAST(strftime('%s', 'now') AS INTEGER) - min(created_at) FILTER (WHERE state = 'ready' AND (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox
WHERE  kind = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (kind, msg_id, not_before) WHERE state = 'ready'
SELECT /* tokenq.Backlog */
       kind,
       count(*) FILTER (WHERE (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE not_before > CAST(strftime('%s', 'now') AS INTEGER)) AS delayed,
       (CAST(strftime('%s', 'now') AS INTEGER) - min(created_at) FILTER (WHERE (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox
WHERE  state = 'ready'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, msg_id, not_before) WHERE state = 'ready'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind string, 2: limit
SELECT /* tokenq.Peek */
       msg_id, kind, created_at, not_before, tries, last_error, body
FROM   email_outbox
WHERE  state = 'ready'
AND    (not_before <= CAST(strftime('%s', 'now') AS INTEGER) OR not_before IS NULL)
AND    kind = ?1
ORDER  BY msg_id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tokenq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.35'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 35);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* tokenq.Verify */ want (name, type) AS (
    VALUES ('msg_id', 'INTEGER'),
           ('state', 'TEXT'),
           ('kind', 'TEXT'),
           ('created_at', 'INTEGER'),
           ('not_before', 'INTEGER'),
           ('lease_till', 'INTEGER'),
           ('token', 'TEXT'),
           ('tries', 'INTEGER'),
           ('last_error', 'TEXT'),
           ('body', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('email_outbox') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* tokenq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('email_outbox_ready', 'kind, msg_id', 'kind', 'state=''ready'''),
           ('email_outbox_expired', 'lease_till', 'lease_till', 'state=''running''')
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
    FROM   pragma_index_list('email_outbox') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
-- emailq advises the same
CREATE INDEX email_outbox_ready ON email_outbox (kind, msg_id, not_before)
WHERE  state = 'ready';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out; it also serves Claim: reads back the rows that the token marks, among those that somebody has, which are few
-- emailq advises the same
CREATE INDEX email_outbox_expired ON email_outbox (lease_till)
WHERE  state = 'running';
