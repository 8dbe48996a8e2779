-- Package locksq uses the table locks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in site, at most 5 run at once; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment. It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: a row whose column "site" is null is taken by no claim; any=null lets it suit everyone
-- note: rows are taken as they came, by column "id"
-- note: a row whose column "site" is null belongs to no group
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked; where all of these groups are, tries the first again, for 0.2 s or so
-- index: locks_ordering (site, id) WHERE site IS NOT NULL AND until IS NULL
-- isolation: read committed
-- arguments: 1: param site int32, 2: limit
WITH /* locksq.Claim */ RECURSIVE candidate AS MATERIALIZED (
    SELECT *
    FROM   locks
    WHERE  until IS NULL
    AND    site = $1
    ORDER  BY id
    LIMIT  least($2, greatest(5 - (SELECT count(*)
               FROM   locks AS other
               WHERE  other.site = $1
               AND    other.until IS NOT NULL), 0))
    FOR    NO KEY UPDATE SKIP LOCKED
), look AS (
    SELECT 1 AS nth, bool_or((candidate.site IS NULL
           OR pg_try_advisory_xact_lock('locks'::regclass::oid::int, hashtext(candidate.site::text)))) AS free
    FROM   candidate
    UNION  ALL
    SELECT look.nth + 1, CASE WHEN pg_sleep(0.002) IS NOT NULL THEN (candidate.site IS NULL
           OR pg_try_advisory_xact_lock('locks'::regclass::oid::int, hashtext(candidate.site::text))) END
    FROM   look
    CROSS  JOIN (SELECT * FROM candidate LIMIT 1) AS candidate
    WHERE  look.free IS NOT TRUE
    AND    look.nth < 100
)
SELECT candidate.id
FROM   candidate
WHERE  CASE WHEN (SELECT bool_or(look.free) FROM look) THEN (candidate.site IS NULL
           OR pg_try_advisory_xact_lock('locks'::regclass::oid::int, hashtext(candidate.site::text))) END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: worker Agent, 2: batch ID
UPDATE /* locksq.Claim */ locks
SET    until = now() + interval '5 minutes',
       agent = $1
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN (site IS NULL
           OR EXISTS (SELECT 1
               FROM   (SELECT greatest(5 - (SELECT count(*)
               FROM   locks AS other
               WHERE  other.site = locks.site
               AND    other.until IS NOT NULL), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM locks AS other
                       WHERE  other.site = locks.site
                       AND    other.until IS NULL
                       ORDER  BY other.id LIMIT room.n) AS other
               WHERE  other.id = locks.id))
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, site, until, agent;

-- sql/complete.sql
-- complete: running to done
-- fence: until, agent as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until, 3: batch Agent
DELETE /* locksq.Complete */ FROM locks
USING  unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, until_held, agent_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    agent = agent_held
            AND    until IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: until, agent as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until, 3: batch Agent
UPDATE /* locksq.Fail */ locks
SET    until = NULL,
       agent = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, until_held, agent_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    agent = agent_held
            AND    until IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until, agent as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until, 3: batch Agent
UPDATE /* locksq.Requeue */ locks
SET    until = NULL,
       agent = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, until_held, agent_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    agent = agent_held
            AND    until IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until, agent as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until, 3: batch Agent
UPDATE /* locksq.Extend */ locks
SET    until = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, until_held, agent_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    agent = agent_held
            AND    until IS NOT NULL THEN true END
RETURNING id, until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: locks_until (until) WHERE until IS NOT NULL
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* locksq.Recover */ locks
SET    until = NULL,
       agent = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   locks
           WHERE  until IS NOT NULL
           AND    until <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site
INSERT /* locksq.Enqueue */ INTO locks
       (site)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Site
INSERT /* locksq.EnqueueMany */ INTO locks
       (site)
SELECT site_new
FROM   unnest($1::integer[]) WITH ORDINALITY AS job (site_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* locksq.Stats */
       count(*) FILTER (WHERE until IS NULL) AS ready,
       count(*) FILTER (WHERE until IS NOT NULL) AS running,
       count(*) FILTER (WHERE until IS NOT NULL AND until <= now()) AS expired
FROM   locks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same site is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param site int32
SELECT /* locksq.StatsOf */
       count(*) FILTER (WHERE until IS NULL) AS ready,
       count(*) FILTER (WHERE until IS NOT NULL) AS running,
       count(*) FILTER (WHERE until IS NOT NULL AND until <= now()) AS expired
FROM   locks
WHERE  site = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by site
-- locks: none
-- index: none; it reads the whole table
SELECT /* locksq.Backlog */
       site,
       count(*) AS ready
FROM   locks
WHERE  until IS NULL
GROUP  BY site
ORDER  BY site;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: locks_ordering (site, id) WHERE site IS NOT NULL AND until IS NULL
-- isolation: read committed
-- arguments: 1: param site int32, 2: limit
SELECT /* locksq.Peek */
       id, site
FROM   locks
WHERE  until IS NULL
AND    site = $1
ORDER  BY id
LIMIT  least($2, greatest(5 - (SELECT count(*)
               FROM   locks AS other
               WHERE  other.site = $1
               AND    other.until IS NOT NULL), 0));

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* locksq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* locksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('site', 'integer'),
               ('until', 'timestamptz'),
               ('agent', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('locks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* locksq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* locksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('locks_ordering', 'site, id', 'site, id', 'siteisnotnullanduntilisnull'),
               ('locks_shared', 'site', 'site', 'siteisnotnullanduntilisnotnull'),
               ('locks_until', 'until', 'until', 'untilisnotnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('locks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; it also serves Claim: who is before a row in its group: locks_ordering serves already

-- serves Claim: the running rows of a group: locks_shared serves already

-- serves Recover: claims that ran out: locks_until serves already
