-- Package sitestoldq uses the table exports as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of the jobs that are alike in site_id, at most as many run at once as the argument running of Claim says; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment. It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates exports_settled_ready and exports_sites_group and exports_sites_line.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for site_id has it read rows of one group alone

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked; where all of these groups are, tries the first again, for 0.2 s or so
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param running int, 2: limit
WITH /* sitestoldq.Claim */ RECURSIVE candidate AS MATERIALIZED (
    SELECT *
    FROM   exports
    WHERE  state = 'new'
    AND    CASE WHEN exports.site_id IN (SELECT other.site_id
               FROM   (SELECT other.site_id FROM exports AS other
                       WHERE  other.state = 'busy'
                       ORDER  BY other.site_id LIMIT 1000) AS other
               GROUP  BY other.site_id
               HAVING count(*) >= $1) THEN false ELSE true END
    AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest($1 - (SELECT count(*)
               FROM   exports AS other
               WHERE  other.site_id = exports.site_id
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM exports AS other
                       WHERE  other.site_id = exports.site_id
                       AND    other.state = 'new'
                       ORDER  BY other.id LIMIT room.n) AS other
               WHERE  other.id = exports.id) THEN true END
    ORDER  BY id NULLS FIRST
    LIMIT  $2
    FOR    NO KEY UPDATE SKIP LOCKED
), look AS (
    SELECT 1 AS nth, bool_or(pg_try_advisory_xact_lock('exports'::regclass::oid::int, hashtext(candidate.site_id::text))) AS free
    FROM   candidate
    UNION  ALL
    SELECT look.nth + 1, CASE WHEN pg_sleep(0.002) IS NOT NULL THEN pg_try_advisory_xact_lock('exports'::regclass::oid::int, hashtext(candidate.site_id::text)) END
    FROM   look
    CROSS  JOIN (SELECT * FROM candidate LIMIT 1) AS candidate
    WHERE  look.free IS NOT TRUE
    AND    look.nth < 100
)
SELECT candidate.id
FROM   candidate
WHERE  CASE WHEN (SELECT bool_or(look.free) FROM look) THEN pg_try_advisory_xact_lock('exports'::regclass::oid::int, hashtext(candidate.site_id::text)) END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: param running int
UPDATE /* sitestoldq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = now()
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest($2 - (SELECT count(*)
               FROM   exports AS other
               WHERE  other.site_id = exports.site_id
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM exports AS other
                       WHERE  other.site_id = exports.site_id
                       AND    other.state = 'new'
                       ORDER  BY other.id LIMIT room.n) AS other
               WHERE  other.id = exports.id)
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, site_id, tries, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* sitestoldq.Complete */ exports
SET    state = 'over'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* sitestoldq.Fail */ exports
SET    state = 'new',
       taken_at = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* sitestoldq.Fail */ exports
SET    state = 'dead'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* sitestoldq.Requeue */ exports
SET    state = 'new',
       tries = tries - 1,
       taken_at = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* sitestoldq.Extend */ exports
SET    taken_at = now()
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (site_id) WHERE state = 'busy', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sitestoldq.Recover */ exports
SET    state = 'new',
       taken_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'busy'
           AND    tries < 3
           AND    taken_at <= now() - interval '10 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (site_id) WHERE state = 'busy', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sitestoldq.Recover */ exports
SET    state = 'dead'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'busy'
           AND    tries >= 3
           AND    taken_at <= now() - interval '10 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* sitestoldq.Redrive */ exports
SET    state = 'new',
       tries = 0,
       taken_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* sitestoldq.Purge */ FROM exports
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'over'
           AND    taken_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken_at) WHERE state = 'dead' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* sitestoldq.Purge */ FROM exports
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'dead'
           AND    taken_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new SiteID
INSERT /* sitestoldq.Enqueue */ INTO exports
       (site_id)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch SiteID
INSERT /* sitestoldq.EnqueueMany */ INTO exports
       (site_id)
SELECT site_id_new
FROM   unnest($1::integer[]) WITH ORDINALITY AS job (site_id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sitestoldq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND taken_at <= now() - interval '10 minutes') AS expired,
       extract(epoch FROM now() - min(taken_at) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   exports;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* sitestoldq.Backlog */
       count(*) AS ready
FROM   exports
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param running int, 2: limit
SELECT /* sitestoldq.Peek */
       id, site_id, tries
FROM   exports
WHERE  state = 'new'
AND    CASE WHEN exports.site_id IN (SELECT other.site_id
               FROM   (SELECT other.site_id FROM exports AS other
                       WHERE  other.state = 'busy'
                       ORDER  BY other.site_id LIMIT 1000) AS other
               GROUP  BY other.site_id
               HAVING count(*) >= $1) THEN false ELSE true END
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest($1 - (SELECT count(*)
               FROM   exports AS other
               WHERE  other.site_id = exports.site_id
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM exports AS other
                       WHERE  other.site_id = exports.site_id
                       AND    other.state = 'new'
                       ORDER  BY other.id LIMIT room.n) AS other
               WHERE  other.id = exports.id) THEN true END
ORDER  BY id NULLS FIRST
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sitestoldq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* sitestoldq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('site_id', 'integer'),
               ('state', 'text'),
               ('tries', 'integer'),
               ('taken_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('exports')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* sitestoldq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sitestoldq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('exports_settled_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('exports_sites_group', 'site_id', 'site_id', 'state=''busy'''),
               ('exports_sites_line', 'site_id, id', 'site_id, id', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('exports')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- settledq advises the same
CREATE INDEX CONCURRENTLY exports_settled_ready ON exports (id NULLS FIRST)
WHERE  state = 'new';

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
-- sitesq advises the same
CREATE INDEX CONCURRENTLY exports_sites_group ON exports (site_id)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
-- sitesq advises the same
CREATE INDEX CONCURRENTLY exports_sites_line ON exports (site_id, id)
WHERE  state = 'new';
