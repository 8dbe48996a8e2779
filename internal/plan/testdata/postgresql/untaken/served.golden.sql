-- Package servedq uses the table served as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
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
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates served_ready and served_expired.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "holder" does: a row is ready only while holder = '', and not where something else has left a value there
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low, 3: limit
UPDATE /* servedq.Claim */ served
SET    holder = $1,
       held_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   served
           WHERE  state = 'waiting'
           AND    holder = ''
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, holder, held_at;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* servedq.Claim */ served
SET    holder = $1,
       held_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   served
           WHERE  state = 'waiting'
           AND    holder = ''
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, holder, held_at;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* servedq.Claim */ served
SET    holder = $1,
       held_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   served
           WHERE  state = 'waiting'
           AND    holder = ''
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, holder, held_at;

-- sql/start.sql
-- start: claimed to running
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* servedq.Start */ served
SET    state = 'busy'
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state = 'waiting'
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* servedq.Complete */ served
SET    state = 'complete'
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* servedq.Fail */ served
SET    state = 'failed'
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* servedq.Requeue */ served
SET    state = 'waiting',
       holder = '',
       held_at = '1970-01-01 00:00:00+00'
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: held_at, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder
UPDATE /* servedq.Extend */ served
SET    held_at = now()
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, held_at_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    holder = holder_held
            AND    state IN ('waiting', 'busy')
            AND    holder <> '' THEN true END
RETURNING id, held_at;

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (held_at) WHERE state IN ('waiting', 'busy') AND holder <> ''
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* servedq.Recover */ served
SET    state = 'waiting',
       holder = '',
       held_at = '1970-01-01 00:00:00+00'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   served
           WHERE  state IN ('waiting', 'busy')
           AND    holder <> ''
           AND    held_at <= now() - interval '5 minutes'
           AND    held_at > '1970-01-01 00:00:00+00'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* servedq.Redrive */ served
SET    state = 'waiting',
       holder = '',
       held_at = '1970-01-01 00:00:00+00'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   served
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'complete' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* servedq.Purge */ FROM served
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   served
           WHERE  state = 'complete'
           AND    held_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* servedq.Purge */ FROM served
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   served
           WHERE  state = 'failed'
           AND    held_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* servedq.Enqueue */ INTO served
       (state, holder)
VALUES ('waiting', '')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* servedq.Stats */
       count(*) FILTER (WHERE state = 'waiting' AND holder = '') AS ready,
       count(*) FILTER (WHERE state = 'waiting' AND holder <> '') AS claimed,
       count(*) FILTER (WHERE state = 'busy' AND holder <> '') AS running,
       count(*) FILTER (WHERE state = 'complete') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('waiting', 'busy') AND holder <> '' AND held_at <= now() - interval '5 minutes' AND held_at > '1970-01-01 00:00:00+00') AS expired,
       extract(epoch FROM now() - min(held_at) FILTER (WHERE state IN ('waiting', 'busy') AND holder <> '')) AS oldest_running
FROM   served;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'waiting' AND holder = ''
SELECT /* servedq.Backlog */
       count(*) AS ready
FROM   served
WHERE  state = 'waiting'
AND    holder = '';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'waiting' AND holder = ''
-- isolation: read committed
-- arguments: 1: limit
SELECT /* servedq.Peek */
       id, holder, held_at
FROM   served
WHERE  state = 'waiting'
AND    holder = ''
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* servedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* servedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('holder', 'text'),
               ('held_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('served')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* servedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* servedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('served_ready', 'id nulls first', 'id nulls first', 'state=''waiting''andholder='''''),
               ('served_expired', 'held_at', 'held_at', 'statein''waiting'',''busy''andholder<>''''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('served')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY served_ready ON served (id NULLS FIRST)
WHERE  state = 'waiting'
AND    holder = '';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY served_expired ON served (held_at)
WHERE  state IN ('waiting', 'busy')
AND    holder <> '';
