-- Package tasksq uses the table tasks as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_ready and tasks_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     YugabyteDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'pending'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* tasksq.Claim */ tasks
SET    state = 'waiting',
       till = now() + interval '5 minutes',
       tries = tries + 1,
       version = version + 1,
       claimed_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'pending'
           AND    id > $1
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, tries, version, why;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'pending'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* tasksq.Claim */ tasks
SET    state = 'waiting',
       till = now() + interval '5 minutes',
       tries = tries + 1,
       version = version + 1,
       claimed_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'pending'
           AND    id > $1
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, tries, version, why;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id) WHERE state = 'pending'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* tasksq.Claim */ tasks
SET    state = 'waiting',
       till = now() + interval '5 minutes',
       tries = tries + 1,
       version = version + 1,
       claimed_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'pending'
           AND    id > $1
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, tries, version, why;

-- sql/start.sql
-- start: claimed to running
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Start */ tasks
SET    state = 'running',
       version = version + 1,
       started_at = now()
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state = 'waiting' THEN true END
RETURNING id, version;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Complete */ tasks
SET    state = 'successful',
       till = NULL,
       version = version + 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Version
UPDATE /* tasksq.Fail */ tasks
SET    state = 'pending',
       till = NULL,
       version = version + 1,
       why = $1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Version
UPDATE /* tasksq.Fail */ tasks
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = $1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Requeue */ tasks
SET    state = 'pending',
       till = NULL,
       tries = tries - 1,
       version = version + 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Version
UPDATE /* tasksq.Extend */ tasks
SET    till = now() + interval '5 minutes',
       version = version + 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, version_held)
WHERE  id = id_held
AND    CASE WHEN version = version_held
            AND    state IN ('waiting', 'running') THEN true END
RETURNING id, till, version;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE state IN ('waiting', 'running')
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'pending',
       till = NULL,
       version = version + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state IN ('waiting', 'running')
           AND    tries < 3
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE state IN ('waiting', 'running')
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ tasks
SET    state = 'failed',
       till = NULL,
       version = version + 1,
       why = 'the claim ran out'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state IN ('waiting', 'running')
           AND    tries >= 3
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ tasks
SET    state = 'pending',
       till = NULL,
       tries = 0,
       version = version + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'successful' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'successful'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'failed'
           LIMIT  $1
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
SELECT /* tasksq.Stats */
       count(*) FILTER (WHERE state = 'pending') AS ready,
       count(*) FILTER (WHERE state = 'waiting') AS claimed,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'successful') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('waiting', 'running') AND till <= now()) AS expired
FROM   tasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'pending'
SELECT /* tasksq.Backlog */
       count(*) AS ready
FROM   tasks
WHERE  state = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'pending'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       id, tries, version, why
FROM   tasks
WHERE  state = 'pending'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'varchar'),
               ('till', 'timestamptz'),
               ('tries', 'integer'),
               ('version', 'integer'),
               ('claimed_at', 'timestamptz'),
               ('started_at', 'timestamptz'),
               ('why', 'text')) AS want (name, type)
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
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_ready', 'id', 'id', 'state=''pending'''),
               ('tasks_expired', 'till', 'till', 'statein''waiting'',''running''')) AS want (name, columns, least, predicate)
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
CREATE INDEX tasks_ready ON tasks (id ASC)
WHERE  state = 'pending';

-- serves Recover: claims that ran out
CREATE INDEX tasks_expired ON tasks (till ASC)
WHERE  state IN ('waiting', 'running');
