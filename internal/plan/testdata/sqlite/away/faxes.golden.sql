-- Package faxesq uses the tables faxes and all_running as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to all_running, whose unique key lets one worker have it.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates all_running_faxes_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to all_running, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: the fence compares column "till", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running, from faxes to all_running, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
-- arguments: 1: limit
INSERT /* faxesq.Claim */ INTO all_running
       (id, team, till)
SELECT id, team, unixepoch() + 300
FROM   faxes
WHERE  (team = 'fax')
ORDER  BY id
LIMIT  ?1
RETURNING id, team, till;

-- sql/claim_1.sql
-- claim: ready to running, from faxes to all_running, from which claim_leave.sql then deletes them
-- locks: the database for writing, while the statement runs
-- index: the primary key (id)
INSERT /* faxesq.Claim */ INTO all_running
       (id, team, till)
SELECT id, team, unixepoch() + 300
FROM   faxes
WHERE  (team = 'fax')
ORDER  BY id
LIMIT  1
RETURNING id, team, till;

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to all_running
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* faxesq.Claim */ FROM faxes
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* faxesq.Complete */ FROM all_running
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
SELECT /* faxesq.Fail */
       id
FROM   all_running
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1));

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to faxes before retry.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Till
INSERT /* faxesq.Fail */ INTO faxes
       (id, team)
SELECT held.id, held.team
FROM   all_running AS held
WHERE  (held.id, held.till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1));

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* faxesq.Fail */ FROM all_running
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
SELECT /* faxesq.Requeue */
       id
FROM   all_running
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1));

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to faxes before requeue.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID Till
INSERT /* faxesq.Requeue */ INTO faxes
       (id, team)
SELECT held.id, held.team
FROM   all_running AS held
WHERE  (held.id, held.till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
DELETE /* faxesq.Requeue */ FROM all_running
WHERE  (id, till) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1))
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Till
UPDATE /* faxesq.Extend */ all_running
SET    till = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(till = till_held)
RETURNING id, till;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the database for writing, while the statement runs
-- index: (till); until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
SELECT /* faxesq.Recover */
       id
FROM   all_running
WHERE  (team = 'fax')
AND    till <= unixepoch()
LIMIT  ?1;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to faxes before recover.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* faxesq.Recover */ INTO faxes
       (id, team)
SELECT held.id, held.team
FROM   all_running AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* faxesq.Recover */ FROM all_running
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* faxesq.Reserve */ FROM all_running
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Team
INSERT /* faxesq.Enqueue */ INTO faxes
       (team)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Team
INSERT /* faxesq.EnqueueMany */ INTO faxes
       (team)
SELECT team_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS team_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* faxesq.Stats */
       ready,
       running,
       expired
FROM   (
           SELECT count(*) AS ready
           FROM   faxes
           WHERE  (team = 'fax')
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(*) FILTER (WHERE till <= unixepoch()) AS expired
           FROM   all_running
           WHERE  (team = 'fax')
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* faxesq.Peek */
       id, team
FROM   faxes
WHERE  (team = 'fax')
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* faxesq.Verify */
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
WITH /* faxesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('team', 'TEXT'),
           ('till', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('all_running') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_ready.sql
-- verify: columns of faxes
-- locks: none
WITH /* faxesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('team', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('faxes') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* faxesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('all_running_faxes_expired', 'till', 'till', '')
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
    FROM   pragma_index_list('all_running') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Recover: claims that ran out
CREATE INDEX all_running_faxes_expired ON all_running (till);
