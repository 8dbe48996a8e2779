-- Package toldq uses the table told as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready or not, when its claim expired
-- 	running  --Recover---------> failed or not, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready or not, and those without tries left failed or not.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates told_ready and told_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: on recover, column "state" gets [case when {row}.begun then 'dead' else 'new' end] as qgen:on says, not 'new' as qgen:status would
-- note: on giveup, column "state" gets [case when {row}.begun then 'dead' else 'new' end] as qgen:on says, not 'dead' as qgen:status would
-- note: warning: whether Recover makes a job ready is up to what qgen:on recover writes to column "state", and not known here; qgen:attempts on=recover max=3 lets a job fail that was recovered so often, and expired=fail each whose claim has run out
-- note: warning: whether a job fails that Recover gives up is up to what qgen:on giveup writes to column "state", and not known here
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* toldq.Claim */ told
SET    state = 'busy',
       until_at = now() + interval '5 minutes',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, begun, until_at, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* toldq.Claim */ told
SET    state = 'busy',
       until_at = now() + interval '5 minutes',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, begun, until_at, tries;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* toldq.Claim */ told
SET    state = 'busy',
       until_at = now() + interval '5 minutes',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, begun, until_at, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* toldq.Complete */ told
SET    state = 'over',
       until_at = NULL
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
UPDATE /* toldq.Fail */ told
SET    state = 'new',
       until_at = NULL
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
UPDATE /* toldq.Fail */ told
SET    state = 'dead',
       until_at = NULL
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
UPDATE /* toldq.Requeue */ told
SET    state = 'new',
       until_at = NULL,
       tries = tries - 1
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
UPDATE /* toldq.Extend */ told
SET    until_at = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id, until_at;

-- sql/recover.sql
-- recover: running with an expired claim to ready or not
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (until_at) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* toldq.Recover */ told
SET    state = (case when told.begun then 'dead' else 'new' end),
       until_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'busy'
           AND    tries < 4
           AND    until_at <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed or not
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (until_at) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* toldq.Recover */ told
SET    state = (case when told.begun then 'dead' else 'new' end),
       until_at = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'busy'
           AND    tries >= 4
           AND    until_at <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* toldq.Redrive */ told
SET    state = 'new',
       until_at = NULL,
       tries = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* toldq.Purge */ FROM told
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'over'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* toldq.Purge */ FROM told
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   told
           WHERE  state = 'dead'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Begun
INSERT /* toldq.Enqueue */ INTO told
       (begun)
VALUES (coalesce($1::boolean, false))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Begun
INSERT /* toldq.EnqueueMany */ INTO told
       (begun)
SELECT coalesce(begun_new, false)
FROM   unnest($1::boolean[]) WITH ORDINALITY AS job (begun_new, job_order)
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
       count(*) FILTER (WHERE state = 'busy' AND until_at <= now()) AS expired
FROM   told;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* toldq.Backlog */
       count(*) AS ready
FROM   told
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* toldq.Peek */
       id, begun, tries
FROM   told
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
               ('state', 'varchar'),
               ('begun', 'boolean'),
               ('until_at', 'timestamptz'),
               ('tries', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('told')
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
FROM   (VALUES ('told_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('told_expired', 'until_at', 'until_at', 'state=''busy''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('told')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY told_ready ON told (id NULLS FIRST)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY told_expired ON told (until_at)
WHERE  state = 'busy';
