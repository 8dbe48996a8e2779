-- Package hooksq uses the table hooks as a queue of jobs on CockroachDB 25.2 and later.
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
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in tenant, at most 2 run at once; of two claims that meet in a group one is undone and made again. In a transaction of the caller's own that must be SERIALIZABLE.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates hooks_ready and hooks_group and hooks_line.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  the running rows of a group are counted by the statement that takes the rows
--   advisory     CockroachDB has no locks on numbers
--   guarded      the running rows of a group are counted by the statement that takes the rows
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for tenant has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (kind, weight DESC, id) WHERE state = 'new'
-- arguments: 1: param kind string, 2: limit
UPDATE /* hooksq.Claim */ hooks
SET    state = 'busy',
       until_at = now() + interval '5 minutes'
WHERE  state = 'new'
AND    kind = $1
AND    ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   (SELECT other.weight, other.id FROM hooks AS other
                       WHERE  other.tenant = hooks.tenant
                       AND    other.state = 'new'
                       AND    other.kind = $1
                       ORDER  BY other.weight DESC, other.id LIMIT 2) AS other
               WHERE  other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id))
ORDER  BY weight DESC, id
LIMIT  $2
RETURNING id, tenant, kind, until_at, weight;

-- sql/complete.sql
-- complete: running to done
-- fence: until_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
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
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (tenant) WHERE state = 'busy', which has the rows that somebody has
-- arguments: 1: limit
UPDATE /* hooksq.Recover */ hooks
SET    state = 'new',
       until_at = NULL
WHERE  state = 'busy'
AND    until_at <= now()
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* hooksq.Redrive */ hooks
SET    state = 'new',
       until_at = NULL
WHERE  state = 'dead'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'sent' would find them
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM hooks
WHERE  state = 'sent'
LIMIT  $1;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM hooks
WHERE  state = 'dead'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Tenant, 3: new Kind, 4: new Weight
INSERT /* hooksq.Enqueue */ INTO hooks
       (id, tenant, kind, weight)
VALUES (coalesce($1::bigint, unique_rowid()), $2, $3, coalesce($4::bigint, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Tenant, 3: new_batch Kind, 4: new_batch Weight
INSERT /* hooksq.EnqueueMany */ INTO hooks
       (id, tenant, kind, weight)
SELECT coalesce(id_new, unique_rowid()), tenant_new, kind_new, coalesce(weight_new, 0)
FROM   unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS job (id_new, tenant_new, kind_new, weight_new, job_order)
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
-- arguments: 1: param kind string, 2: limit
SELECT /* hooksq.Peek */
       id, tenant, kind, weight
FROM   hooks
WHERE  state = 'new'
AND    kind = $1
AND    ((tenant IS NULL OR tenant = '*')
           OR 2 > (SELECT count(*)
               FROM   hooks AS other
               WHERE  other.tenant = hooks.tenant
               AND    other.state = 'busy')
           + (SELECT count(*)
               FROM   (SELECT other.weight, other.id FROM hooks AS other
                       WHERE  other.tenant = hooks.tenant
                       AND    other.state = 'new'
                       AND    other.kind = $1
                       ORDER  BY other.weight DESC, other.id LIMIT 2) AS other
               WHERE  other.weight > hooks.weight OR other.weight = hooks.weight AND other.id < hooks.id))
ORDER  BY weight DESC, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* hooksq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

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
               ('weight', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('hooks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* hooksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('hooks_ready'),
               ('hooks_group'),
               ('hooks_line')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('hooks')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX hooks_ready ON hooks (kind, weight DESC, id)
WHERE  state = 'new';

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX hooks_group ON hooks (tenant)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX hooks_line ON hooks (tenant, weight DESC, id)
WHERE  state = 'new';
