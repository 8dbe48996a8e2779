-- Package toldq uses the table exports as a queue of jobs on PostgreSQL 15 and later.
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
-- Of all jobs of the queue, at most as many run at once as the argument running of Claim says; a claim locks a number that stands for the queue, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. When as many run as may, Claim returns no jobs. Claims follow one another: each waits until the one before it is committed, so a transaction of the caller's own that claims is to be short.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates exports_settled_ready and exports_settled_expired.
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
--   pop          it writes no running state, so the running rows of the queue cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim_gate.sql
-- claim: one at a time, so that what runs can be counted
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
SELECT /* toldq.Claim */
       1
FROM   pg_advisory_xact_lock('exports'::regclass::oid::int, 0);

-- sql/claim_room.sql
-- claim: how many more rows may run
-- locks: none
-- index: (taken_at) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: param running int
SELECT /* toldq.Claim */
       $1 - (
           SELECT count(*)
           FROM   exports
           WHERE  state = 'busy'
       )
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END;

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* toldq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'new'
           ORDER  BY id NULLS FIRST
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, site_id, tries, taken_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
UPDATE /* toldq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'new'
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, site_id, tries, taken_at;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
UPDATE /* toldq.Claim */ exports
SET    state = 'busy',
       tries = tries + 1,
       taken_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   exports
           WHERE  state = 'new'
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, site_id, tries, taken_at;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* toldq.Complete */ exports
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
UPDATE /* toldq.Fail */ exports
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
UPDATE /* toldq.Fail */ exports
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
UPDATE /* toldq.Requeue */ exports
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
UPDATE /* toldq.Extend */ exports
SET    taken_at = now()
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (taken_at) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* toldq.Recover */ exports
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
-- index: (taken_at) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* toldq.Recover */ exports
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
UPDATE /* toldq.Redrive */ exports
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
DELETE /* toldq.Purge */ FROM exports
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
DELETE /* toldq.Purge */ FROM exports
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
INSERT /* toldq.Enqueue */ INTO exports
       (site_id)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch SiteID
INSERT /* toldq.EnqueueMany */ INTO exports
       (site_id)
SELECT site_id_new
FROM   unnest($1::integer[]) WITH ORDINALITY AS job (site_id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* toldq.Stats */
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
SELECT /* toldq.Backlog */
       count(*) AS ready
FROM   exports
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* toldq.Peek */
       id, site_id, tries
FROM   exports
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* toldq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* toldq.Verify */
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
SELECT /* toldq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* toldq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('exports_settled_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('exports_settled_expired', 'taken_at', 'taken_at', 'state=''busy''')) AS want (name, columns, least, predicate)
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

-- serves Recover: claims that ran out; it also serves Claim: counts the running rows
-- settledq advises the same
CREATE INDEX CONCURRENTLY exports_settled_expired ON exports (taken_at)
WHERE  state = 'busy';
