-- Package linesq uses the table lines as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in target, one runs at once; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates lines_ready and lines_group and lines_line.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for target has it read rows of one group alone

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (id NULLS FIRST) WHERE state = 'open' AND deleted = 0
-- isolation: read committed
-- arguments: 1: limit
WITH /* linesq.Claim */ candidate AS MATERIALIZED (
    SELECT *
    FROM   lines
    WHERE  state = 'open'
    AND    (deleted = 0)
    AND    CASE WHEN lines.target IN (SELECT other.target
               FROM   (SELECT other.target FROM lines AS other
                       WHERE  other.state = 'busy'
                       AND    ((deleted = 0) OR other.since > now() - interval '5 minutes')
                       ORDER  BY other.target LIMIT 1000) AS other
               GROUP  BY other.target
               HAVING count(*) >= 1) THEN false ELSE true END
    AND    CASE WHEN (SELECT 1
               FROM   lines AS other
               WHERE  other.target = lines.target
               AND    other.state = 'busy'
               AND    ((deleted = 0) OR other.since > now() - interval '5 minutes')
               LIMIT  1) IS NULL THEN true END
    AND    CASE WHEN lines.id = (SELECT other.id
               FROM   lines AS other
               WHERE  other.target = lines.target
               AND    other.state = 'open'
               AND    (deleted = 0)
               ORDER  BY other.id
               LIMIT  1) THEN true END
    ORDER  BY id NULLS FIRST
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
SELECT candidate.id
FROM   candidate
WHERE  pg_try_advisory_xact_lock('lines'::regclass::oid::int, hashtext(candidate.target::text));

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* linesq.Claim */ lines
SET    state = 'busy',
       since = now()
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN (SELECT count(*)
               FROM   lines AS other
               WHERE  other.target = lines.target
               AND    other.state = 'busy'
               AND    ((deleted = 0) OR other.since > now() - interval '5 minutes')) = 0
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, target, since, deleted;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* linesq.Complete */ lines
SET    state = 'over'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* linesq.Fail */ lines
SET    state = 'open',
       since = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* linesq.Requeue */ lines
SET    state = 'open',
       since = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* linesq.Extend */ lines
SET    since = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    state = 'busy' THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (target) WHERE state = 'busy', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* linesq.Recover */ lines
SET    state = 'open',
       since = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   lines
           WHERE  state = 'busy'
           AND    (deleted = 0)
           AND    since <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE state = 'over' AND deleted = 0 would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* linesq.Purge */ FROM lines
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   lines
           WHERE  state = 'over'
           AND    (deleted = 0)
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Target, 2: new Deleted
INSERT /* linesq.Enqueue */ INTO lines
       (target, deleted)
VALUES ($1, coalesce($2::integer, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Target, 2: new_batch Deleted
INSERT /* linesq.EnqueueMany */ INTO lines
       (target, deleted)
SELECT target_new, coalesce(deleted_new, 0)
FROM   unnest($1::text[], $2::integer[]) WITH ORDINALITY AS job (target_new, deleted_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* linesq.Stats */
       count(*) FILTER (WHERE state = 'open') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'busy' AND since <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(since) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   lines
WHERE  (deleted = 0);

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'open' AND deleted = 0
SELECT /* linesq.Backlog */
       count(*) AS ready
FROM   lines
WHERE  state = 'open'
AND    (deleted = 0);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'open' AND deleted = 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* linesq.Peek */
       id, target, deleted
FROM   lines
WHERE  state = 'open'
AND    (deleted = 0)
AND    CASE WHEN lines.target IN (SELECT other.target
               FROM   (SELECT other.target FROM lines AS other
                       WHERE  other.state = 'busy'
                       AND    ((deleted = 0) OR other.since > now() - interval '5 minutes')
                       ORDER  BY other.target LIMIT 1000) AS other
               GROUP  BY other.target
               HAVING count(*) >= 1) THEN false ELSE true END
AND    CASE WHEN (SELECT 1
               FROM   lines AS other
               WHERE  other.target = lines.target
               AND    other.state = 'busy'
               AND    ((deleted = 0) OR other.since > now() - interval '5 minutes')
               LIMIT  1) IS NULL THEN true END
AND    CASE WHEN lines.id = (SELECT other.id
               FROM   lines AS other
               WHERE  other.target = lines.target
               AND    other.state = 'open'
               AND    (deleted = 0)
               ORDER  BY other.id
               LIMIT  1) THEN true END
ORDER  BY id NULLS FIRST
LIMIT  $1;

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
               ('target', 'text'),
               ('state', 'text'),
               ('since', 'timestamptz'),
               ('deleted', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('lines')
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
FROM   (VALUES ('lines_ready', 'id nulls first', 'id nulls first', 'state=''open''anddeleted=0'),
               ('lines_group', 'target', 'target', 'state=''busy'''),
               ('lines_line', 'target, id', 'target, id', 'state=''open''anddeleted=0')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('lines')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY lines_ready ON lines (id NULLS FIRST)
WHERE  state = 'open'
AND    deleted = 0;

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX CONCURRENTLY lines_group ON lines (target)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX CONCURRENTLY lines_line ON lines (target, id)
WHERE  state = 'open'
AND    deleted = 0;
