-- Package hooksq uses the table hooks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in tenant, at most 2 run at once; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment. It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates hooks_ready and hooks_group and hooks_line.
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
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for tenant has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked; where all of these groups are, tries the first again, for 0.2 s or so
-- index: (kind, weight DESC, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
WITH /* hooksq.Claim */ RECURSIVE candidate AS MATERIALIZED (
    SELECT *
    FROM   hooks
    WHERE  state = 'new'
    AND    kind = $1
    AND    ((tenant IS NULL OR tenant = '*')
           OR (CASE WHEN hooks.tenant IN (SELECT other.tenant
               FROM   (SELECT other.tenant FROM hooks AS other
                       WHERE  other.state = 'busy'
                       ORDER  BY other.tenant LIMIT 1000) AS other
               GROUP  BY other.tenant
               HAVING count(*) >= 2) THEN false ELSE true END
           AND CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(2 - (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM hooks AS other
                       WHERE  other.tenant = hooks.tenant
                       AND    other.state = 'new'
                       AND    other.kind = $1
                       ORDER  BY other.weight DESC, other.id LIMIT room.n) AS other
               WHERE  other.id = hooks.id) THEN true END))
    ORDER  BY weight DESC, id
    LIMIT  $2
    FOR    NO KEY UPDATE SKIP LOCKED
), look AS (
    SELECT 1 AS nth, bool_or(((candidate.tenant IS NULL OR candidate.tenant = '*')
           OR pg_try_advisory_xact_lock('hooks'::regclass::oid::int, hashtext(candidate.tenant::text)))) AS free
    FROM   candidate
    UNION  ALL
    SELECT look.nth + 1, CASE WHEN pg_sleep(0.002) IS NOT NULL THEN ((candidate.tenant IS NULL OR candidate.tenant = '*')
           OR pg_try_advisory_xact_lock('hooks'::regclass::oid::int, hashtext(candidate.tenant::text))) END
    FROM   look
    CROSS  JOIN (SELECT * FROM candidate LIMIT 1) AS candidate
    WHERE  look.free IS NOT TRUE
    AND    look.nth < 100
)
SELECT candidate.id
FROM   candidate
WHERE  CASE WHEN (SELECT bool_or(look.free) FROM look) THEN ((candidate.tenant IS NULL OR candidate.tenant = '*')
           OR pg_try_advisory_xact_lock('hooks'::regclass::oid::int, hashtext(candidate.tenant::text))) END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: param kind string
UPDATE /* hooksq.Claim */ hooks
SET    state = 'busy',
       until_at = now() + interval '5 minutes'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN ((tenant IS NULL OR tenant = '*')
           OR EXISTS (SELECT 1
               FROM   (SELECT greatest(2 - (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM hooks AS other
                       WHERE  other.tenant = hooks.tenant
                       AND    other.state = 'new'
                       AND    other.kind = $2
                       ORDER  BY other.weight DESC, other.id LIMIT room.n) AS other
               WHERE  other.id = hooks.id))
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, tenant, kind, until_at, weight;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* hooksq.Complete */ hooks
SET    state = 'sent',
       until_at = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* hooksq.Fail */ hooks
SET    state = 'dead',
       until_at = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* hooksq.Requeue */ hooks
SET    state = 'new',
       until_at = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch UntilAt
UPDATE /* hooksq.Extend */ hooks
SET    until_at = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_at_held)
WHERE  id = id_held
AND    CASE WHEN until_at = until_at_held
            AND    state = 'busy' THEN true END
RETURNING id, until_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (tenant) WHERE state = 'busy', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* hooksq.Recover */ hooks
SET    state = 'new',
       until_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   hooks
           WHERE  state = 'busy'
           AND    until_at <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* hooksq.Redrive */ hooks
SET    state = 'new',
       until_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   hooks
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'sent' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM hooks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   hooks
           WHERE  state = 'sent'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM hooks
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   hooks
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Tenant, 2: new Kind, 3: new Weight
INSERT /* hooksq.Enqueue */ INTO hooks
       (tenant, kind, weight)
VALUES ($1, $2, coalesce($3::integer, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Tenant, 2: new_batch Kind, 3: new_batch Weight
INSERT /* hooksq.EnqueueMany */ INTO hooks
       (tenant, kind, weight)
SELECT tenant_new, kind_new, coalesce(weight_new, 0)
FROM   unnest($1::text[], $2::text[], $3::integer[]) WITH ORDINALITY AS job (tenant_new, kind_new, weight_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* hooksq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND until_at <= now()) AS expired
FROM   hooks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* hooksq.StatsOf */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND until_at <= now()) AS expired
FROM   hooks
WHERE  kind = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (kind, weight DESC, id) WHERE state = 'new'
SELECT /* hooksq.Backlog */
       kind,
       count(*) AS ready
FROM   hooks
WHERE  state = 'new'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, weight DESC, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* hooksq.Peek */
       id, tenant, kind, weight
FROM   hooks
WHERE  state = 'new'
AND    kind = $1
AND    ((tenant IS NULL OR tenant = '*')
           OR (CASE WHEN hooks.tenant IN (SELECT other.tenant
               FROM   (SELECT other.tenant FROM hooks AS other
                       WHERE  other.state = 'busy'
                       ORDER  BY other.tenant LIMIT 1000) AS other
               GROUP  BY other.tenant
               HAVING count(*) >= 2) THEN false ELSE true END
           AND CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(2 - (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM hooks AS other
                       WHERE  other.tenant = hooks.tenant
                       AND    other.state = 'new'
                       AND    other.kind = $1
                       ORDER  BY other.weight DESC, other.id LIMIT room.n) AS other
               WHERE  other.id = hooks.id) THEN true END))
ORDER  BY weight DESC, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* hooksq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* hooksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('tenant', 'text'),
               ('kind', 'text'),
               ('state', 'text'),
               ('until_at', 'timestamptz'),
               ('weight', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('hooks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* hooksq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* hooksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('hooks_ready', 'kind, weight desc, id', 'kind, weight desc, id', 'state=''new'''),
               ('hooks_group', 'tenant', 'tenant', 'state=''busy'''),
               ('hooks_line', 'tenant, weight desc, id', 'tenant, weight desc, id', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('hooks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY hooks_ready ON hooks (kind, weight DESC, id)
WHERE  state = 'new';

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX CONCURRENTLY hooks_group ON hooks (tenant)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX CONCURRENTLY hooks_line ON hooks (tenant, weight DESC, id)
WHERE  state = 'new';
