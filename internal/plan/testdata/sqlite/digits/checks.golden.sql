-- Package checksq uses the table checks as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates checks_ready.
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
-- note: column "since" is '' while nobody has the row, as its default says
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "again" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "since", which counts whole seconds: two claims within one second look alike

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, again) WHERE ended = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* checksq.Claim */ checks
SET    since = printf('%011d', unixepoch())
WHERE  id IN (
           SELECT id
           FROM   checks
           WHERE  ended = ''
           AND    (since <= printf('%011d', unixepoch() - 900) OR since = '')
           AND    again <= strftime('%Y-%m-%d %H:%M:%S', 'now')
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, since, again;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id, again) WHERE ended = ''; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* checksq.Claim */ checks
SET    since = printf('%011d', unixepoch())
WHERE  id = (
           SELECT id
           FROM   checks
           WHERE  ended = ''
           AND    (since <= printf('%011d', unixepoch() - 900) OR since = '')
           AND    again <= strftime('%Y-%m-%d %H:%M:%S', 'now')
           ORDER  BY id
           LIMIT  1)
RETURNING id, since, again;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* checksq.Complete */ checks
SET    ended = printf('%011d', unixepoch())
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    ended = ''
      AND    since <> '')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Since
UPDATE /* checksq.Fail */ checks
SET    since = '',
       again = strftime('%Y-%m-%d %H:%M:%S', 'now', printf('%+.3f seconds', +(?1)))
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    ended = ''
      AND    since <> '')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all ID Since
UPDATE /* checksq.Requeue */ checks
SET    since = '',
       again = CASE WHEN ?1 > 0.0 THEN strftime('%Y-%m-%d %H:%M:%S', 'now', printf('%+.3f seconds', +(?1))) ELSE again END
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    ended = ''
      AND    since <> '')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Since
UPDATE /* checksq.Extend */ checks
SET    since = printf('%011d', unixepoch())
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS since_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(since = since_held
      AND    ended = ''
      AND    since <> '')
RETURNING id, since;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE ended <> '' would find them
-- arguments: 1: older, 2: limit
DELETE /* checksq.Purge */ FROM checks
WHERE  id IN (
           SELECT id
           FROM   checks
           WHERE  ended <> ''
           AND    ended <= printf('%011d', max(0, min(CAST(unixepoch() - ?1 AS INTEGER), 99999999999)))
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Again
INSERT /* checksq.Enqueue */ INTO checks
       (again)
VALUES (coalesce(?1, ''))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Again
INSERT /* checksq.EnqueueMany */ INTO checks
       (again)
SELECT coalesce(again_new, '')
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS again_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* checksq.Stats */
       count(*) FILTER (WHERE ended = '' AND (since <= printf('%011d', unixepoch() - 900) OR since = '') AND again <= strftime('%Y-%m-%d %H:%M:%S', 'now')) AS ready,
       count(*) FILTER (WHERE ended = '' AND since <> '' AND since > printf('%011d', unixepoch() - 900)) AS running,
       count(*) FILTER (WHERE ended <> '') AS done,
       count(*) FILTER (WHERE ended = '' AND again > strftime('%Y-%m-%d %H:%M:%S', 'now')) AS delayed,
       count(*) FILTER (WHERE ended = '' AND since <> '' AND since <= printf('%011d', unixepoch() - 900)) AS expired,
       ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now')) - julianday(min(again) FILTER (WHERE ended = '' AND (since <= printf('%011d', unixepoch() - 900) OR since = '') AND again <= strftime('%Y-%m-%d %H:%M:%S', 'now')))) * 86400.0) AS oldest_ready,
       (unixepoch() - CAST(min(since) FILTER (WHERE ended = '' AND since <> '' AND since > printf('%011d', unixepoch() - 900)) AS INTEGER)) AS oldest_running,
       avg((CAST(ended AS INTEGER) - CAST(since AS INTEGER))) FILTER (WHERE ended <> '' AND since <> '') AS mean_run
FROM   checks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id, again) WHERE ended = ''
SELECT /* checksq.Backlog */
       count(*) FILTER (WHERE (since <= printf('%011d', unixepoch() - 900) OR since = '') AND again <= strftime('%Y-%m-%d %H:%M:%S', 'now')) AS ready,
       count(*) FILTER (WHERE again > strftime('%Y-%m-%d %H:%M:%S', 'now')) AS delayed,
       ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now')) - julianday(min(again) FILTER (WHERE (since <= printf('%011d', unixepoch() - 900) OR since = '') AND again <= strftime('%Y-%m-%d %H:%M:%S', 'now')))) * 86400.0) AS oldest_ready
FROM   checks
WHERE  ended = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id, again) WHERE ended = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* checksq.Peek */
       id, since, again
FROM   checks
WHERE  ended = ''
AND    (since <= printf('%011d', unixepoch() - 900) OR since = '')
AND    again <= strftime('%Y-%m-%d %H:%M:%S', 'now')
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* checksq.Verify */
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
WITH /* checksq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('ended', 'char(10)'),
           ('since', 'char(10)'),
           ('again', 'varchar(20)')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('checks') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* checksq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('checks_ready', '', '', '')
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
    FROM   pragma_index_list('checks') AS l
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
CREATE INDEX checks_ready ON checks (id, again)
WHERE  ended = '';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
