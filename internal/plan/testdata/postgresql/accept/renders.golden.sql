-- Package rendersq uses the table renders as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates renders_ready and renders_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (site, urgency DESC, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Claim */
       id, site, scene, memory_mb, urgency, tries
FROM   renders
WHERE  state = 'N'
AND    site = $1
ORDER  BY urgency DESC, id
LIMIT  $2;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: worker Node, 2: batch ID, 3: batch Tries, 4: param site string
UPDATE /* rendersq.Claim */ renders
SET    state = 'A',
       tries = tries + 1,
       until_at = now() + interval '5 minutes',
       node = $1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_picked, tries_picked)
WHERE  id = id_picked
AND    CASE WHEN tries = tries_picked
            AND    state = 'N'
            AND    site = $4 THEN true END
RETURNING id, site, scene, memory_mb, urgency, tries, until_at, node;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node
UPDATE /* rendersq.Complete */ renders
SET    state = 'D',
       until_at = NULL
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, node_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    node = node_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node
UPDATE /* rendersq.Fail */ renders
SET    state = 'N',
       until_at = NULL,
       node = NULL
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, node_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    node = node_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node
UPDATE /* rendersq.Fail */ renders
SET    state = 'E',
       until_at = NULL
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, node_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    node = node_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node
UPDATE /* rendersq.Requeue */ renders
SET    state = 'N',
       tries = tries - 1,
       until_at = NULL,
       node = NULL
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, node_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    node = node_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries, node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node
UPDATE /* rendersq.Extend */ renders
SET    until_at = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, node_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    node = node_held
            AND    state = 'A' THEN true END
RETURNING id, until_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (until_at) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ renders
SET    state = 'N',
       until_at = NULL,
       node = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   renders
           WHERE  state = 'A'
           AND    tries < 5
           AND    until_at <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (until_at) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ renders
SET    state = 'E',
       until_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   renders
           WHERE  state = 'A'
           AND    tries >= 5
           AND    until_at <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* rendersq.Redrive */ renders
SET    state = 'N',
       tries = 0,
       until_at = NULL,
       node = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   renders
           WHERE  state = 'E'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* rendersq.Purge */ FROM renders
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   renders
           WHERE  state = 'D'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'E' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* rendersq.Purge */ FROM renders
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   renders
           WHERE  state = 'E'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new Scene, 3: new MemoryMb, 4: new Urgency
INSERT /* rendersq.Enqueue */ INTO renders
       (site, scene, memory_mb, urgency)
VALUES ($1, $2, $3, coalesce($4::integer, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Site, 2: new_batch Scene, 3: new_batch MemoryMb, 4: new_batch Urgency
INSERT /* rendersq.EnqueueMany */ INTO renders
       (site, scene, memory_mb, urgency)
SELECT site_new, scene_new, memory_mb_new, coalesce(urgency_new, 0)
FROM   unnest($1::text[], $2::text[], $3::integer[], $4::integer[]) WITH ORDINALITY AS job (site_new, scene_new, memory_mb_new, urgency_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* rendersq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'A' AND until_at <= now()) AS expired
FROM   renders;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same site is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param site string
SELECT /* rendersq.StatsOf */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'A' AND until_at <= now()) AS expired
FROM   renders
WHERE  site = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by site
-- locks: none
-- index: (site, urgency DESC, id) WHERE state = 'N'
SELECT /* rendersq.Backlog */
       site,
       count(*) AS ready
FROM   renders
WHERE  state = 'N'
GROUP  BY site
ORDER  BY site;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (site, urgency DESC, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Peek */
       id, site, scene, memory_mb, urgency, tries
FROM   renders
WHERE  state = 'N'
AND    site = $1
ORDER  BY urgency DESC, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* rendersq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* rendersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('site', 'text'),
               ('scene', 'text'),
               ('memory_mb', 'integer'),
               ('urgency', 'integer'),
               ('state', 'char'),
               ('tries', 'integer'),
               ('until_at', 'timestamptz'),
               ('node', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('renders')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* rendersq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* rendersq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('renders_ready', 'site, urgency desc, id', 'site, urgency desc, id', 'state=''n'''),
               ('renders_expired', 'until_at', 'until_at', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('renders')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY renders_ready ON renders (site, urgency DESC, id)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY renders_expired ON renders (until_at)
WHERE  state = 'A';
