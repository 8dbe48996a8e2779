-- Package tasksq uses the table tasks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no column says when a claim in column "fetched" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: a row whose claim has run out is claimed again, since nothing but column "fetched" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "attempts" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE completed IS NULL AND attempts < 3
-- isolation: read committed
-- arguments: 1: timeout, 2: low, 3: limit
UPDATE /* tasksq.Claim */ tasks
SET    fetched = now(),
       completed = NULL,
       attempts = attempts + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL)
           AND    attempts < 3
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, fetched, attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE completed IS NULL AND attempts < 3
-- isolation: read committed
-- arguments: 1: timeout, 2: low
UPDATE /* tasksq.Claim */ tasks
SET    fetched = now(),
       completed = NULL,
       attempts = attempts + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL)
           AND    attempts < 3
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, fetched, attempts;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE completed IS NULL AND attempts < 3
-- isolation: read committed
-- arguments: 1: timeout, 2: low
UPDATE /* tasksq.Claim */ tasks
SET    fetched = now(),
       completed = NULL,
       attempts = attempts + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL)
           AND    attempts < 3
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, fetched, attempts;

-- sql/complete.sql
-- complete: running to done
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Attempts
UPDATE /* tasksq.Complete */ tasks
SET    completed = now()
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, attempts_held)
WHERE  id = id_held
AND    CASE WHEN attempts = attempts_held
            AND    completed IS NULL
            AND    fetched IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Attempts
UPDATE /* tasksq.Fail */ tasks
SET    fetched = NULL,
       completed = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, attempts_held)
WHERE  id = id_held
AND    CASE WHEN attempts = attempts_held
            AND    completed IS NULL
            AND    fetched IS NOT NULL THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Attempts
UPDATE /* tasksq.Fail */ tasks
SET    fetched = NULL,
       completed = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, attempts_held)
WHERE  id = id_held
AND    CASE WHEN attempts = attempts_held
            AND    completed IS NULL
            AND    fetched IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Attempts
UPDATE /* tasksq.Requeue */ tasks
SET    fetched = NULL,
       completed = NULL,
       attempts = attempts - 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, attempts_held)
WHERE  id = id_held
AND    CASE WHEN attempts = attempts_held
            AND    completed IS NULL
            AND    fetched IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: attempts as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Attempts
UPDATE /* tasksq.Extend */ tasks
SET    fetched = now()
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, attempts_held)
WHERE  id = id_held
AND    CASE WHEN attempts = attempts_held
            AND    completed IS NULL
            AND    fetched IS NOT NULL THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
UPDATE /* tasksq.Redrive */ tasks
SET    fetched = NULL,
       completed = NULL,
       attempts = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL)
           AND    attempts >= 3
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (completed) WHERE completed IS NOT NULL would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  completed IS NOT NULL
           AND    completed <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (fetched) WHERE completed IS NULL AND attempts >= 3 would find them
-- isolation: read committed
-- arguments: 1: timeout, 2: older, 3: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  completed IS NULL
           AND    (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL)
           AND    attempts >= 3
           AND    fetched <= now() - make_interval(secs => $2)
           LIMIT  $3
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* tasksq.Enqueue */ INTO tasks
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE completed IS NULL AND (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL) AND attempts < 3) AS ready,
       count(*) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched > now() - make_interval(secs => $1)) AS running,
       count(*) FILTER (WHERE completed IS NOT NULL) AS done,
       count(*) FILTER (WHERE completed IS NULL AND (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL) AND attempts >= 3) AS failed,
       count(*) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched <= now() - make_interval(secs => $1)) AS expired,
       extract(epoch FROM now() - min(fetched) FILTER (WHERE completed IS NULL AND fetched IS NOT NULL AND fetched > now() - make_interval(secs => $1))) AS oldest_running
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE completed IS NULL AND attempts < 3; it reads others as well
-- arguments: 1: timeout
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  completed IS NULL
AND    (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL)
AND    attempts < 3;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE completed IS NULL AND attempts < 3
-- isolation: read committed
-- arguments: 1: timeout, 2: limit
SELECT /* tasksq.Peek */
       id, attempts
FROM   tasks
WHERE  completed IS NULL
AND    (fetched <= now() - make_interval(secs => $1) OR fetched IS NULL)
AND    attempts < 3
ORDER  BY id NULLS FIRST
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('fetched', 'timestamptz'),
               ('completed', 'timestamptz'),
               ('attempts', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* tasksq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_ready', 'id nulls first', 'id nulls first', 'completedisnullandattempts<3')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('tasks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY tasks_ready ON tasks (id NULLS FIRST)
WHERE  completed IS NULL
AND    attempts < 3;
