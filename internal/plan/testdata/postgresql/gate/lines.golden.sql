-- Package linesq uses the table tasks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Of the jobs that are alike in line, at most as many run at once as this says: {row}.most; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment. It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_lines_ready and tasks_group.
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
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     the running rows of a group are counted behind locks, in a statement of their own
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: qgen.yaml says what topic of column "line" is; the comment at schema.sql:31:38 is not used
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked; where all of these groups are, tries the first again, for 0.2 s or so
-- index: (line, (kind = 'last'), id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param line string, 2: limit
WITH /* linesq.Claim */ RECURSIVE candidate AS MATERIALIZED (
    SELECT *
    FROM   tasks
    WHERE  state = 'new'
    AND    line = $1
    AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(coalesce((tasks.most), 0) - (SELECT count(*)
               FROM   tasks AS other
               WHERE  other.line = $1
               AND    other.state = 'busy'), 0) AS n) AS room
               WHERE  room.n > (SELECT count(*)
               FROM   (SELECT 1 FROM tasks AS other
                       WHERE  other.line = $1
                       AND    other.state = 'new'
                       AND    ((other.kind = 'last') < (tasks.kind = 'last') OR (other.kind = 'last') = (tasks.kind = 'last') AND other.id < tasks.id)
                       LIMIT  room.n) AS other)) THEN true END
    ORDER  BY (kind = 'last'), id
    LIMIT  $2
    FOR    NO KEY UPDATE SKIP LOCKED
), look AS (
    SELECT 1 AS nth, bool_or(pg_try_advisory_xact_lock('tasks'::regclass::oid::int, hashtext(candidate.line::text))) AS free
    FROM   candidate
    UNION  ALL
    SELECT look.nth + 1, CASE WHEN pg_sleep(0.002) IS NOT NULL THEN pg_try_advisory_xact_lock('tasks'::regclass::oid::int, hashtext(candidate.line::text)) END
    FROM   look
    CROSS  JOIN (SELECT * FROM candidate LIMIT 1) AS candidate
    WHERE  look.free IS NOT TRUE
    AND    look.nth < 100
)
SELECT candidate.id
FROM   candidate
WHERE  CASE WHEN (SELECT bool_or(look.free) FROM look) THEN pg_try_advisory_xact_lock('tasks'::regclass::oid::int, hashtext(candidate.line::text)) END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* linesq.Claim */ tasks
SET    state = 'busy'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(coalesce((tasks.most), 0) - (SELECT count(*)
               FROM   tasks AS other
               WHERE  other.line = tasks.line
               AND    other.state = 'busy'), 0) AS n) AS room
               WHERE  room.n > (SELECT count(*)
               FROM   (SELECT 1 FROM tasks AS other
                       WHERE  other.line = tasks.line
                       AND    other.state = 'new'
                       AND    ((other.kind = 'last') < (tasks.kind = 'last') OR (other.kind = 'last') = (tasks.kind = 'last') AND other.id < tasks.id)
                       LIMIT  room.n) AS other))
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, line, kind, most;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* linesq.Complete */ tasks
SET    state = 'over'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* linesq.Fail */ tasks
SET    state = 'dead'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* linesq.Requeue */ tasks
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* linesq.Redrive */ tasks
SET    state = 'new'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* linesq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'over'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* linesq.Purge */ FROM tasks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Line, 2: new Kind, 3: new Most
INSERT /* linesq.Enqueue */ INTO tasks
       (line, kind, most)
VALUES ($1, $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Line, 2: new_batch Kind, 3: new_batch Most
INSERT /* linesq.EnqueueMany */ INTO tasks
       (line, kind, most)
SELECT line_new, kind_new, most_new
FROM   unnest($1::text[], $2::text[], $3::integer[]) WITH ORDINALITY AS job (line_new, kind_new, most_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* linesq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed
FROM   tasks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same line is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param line string
SELECT /* linesq.StatsOf */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed
FROM   tasks
WHERE  line = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by line
-- locks: none
-- index: (line, (kind = 'last'), id) WHERE state = 'new'
SELECT /* linesq.Backlog */
       line,
       count(*) AS ready
FROM   tasks
WHERE  state = 'new'
GROUP  BY line
ORDER  BY line;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (line, (kind = 'last'), id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param line string, 2: limit
SELECT /* linesq.Peek */
       id, line, kind, most
FROM   tasks
WHERE  state = 'new'
AND    line = $1
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(coalesce((tasks.most), 0) - (SELECT count(*)
               FROM   tasks AS other
               WHERE  other.line = $1
               AND    other.state = 'busy'), 0) AS n) AS room
               WHERE  room.n > (SELECT count(*)
               FROM   (SELECT 1 FROM tasks AS other
                       WHERE  other.line = $1
                       AND    other.state = 'new'
                       AND    ((other.kind = 'last') < (tasks.kind = 'last') OR (other.kind = 'last') = (tasks.kind = 'last') AND other.id < tasks.id)
                       LIMIT  room.n) AS other)) THEN true END
ORDER  BY (kind = 'last'), id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* linesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* linesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('line', 'text'),
               ('kind', 'text'),
               ('most', 'integer'),
               ('state', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* linesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* linesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_lines_ready', '', '', ''),
               ('tasks_group', 'line', 'line', 'state=''busy''')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Claim: who is before a row in its group
CREATE INDEX CONCURRENTLY tasks_lines_ready ON tasks (line, (kind = 'last'), id)
WHERE  state = 'new';

-- serves Claim: the running rows of a group
-- tasksq advises the same
CREATE INDEX CONCURRENTLY tasks_group ON tasks (line)
WHERE  state = 'busy';
