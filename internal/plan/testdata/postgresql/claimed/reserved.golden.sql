-- Package reservedq uses the table reserved as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim does not run out before Start, for it leaves till null: Recover finds none that has not begun.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail. Those that it had not begun stay claimed for good, since a claim leaves till null.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates reserved_ready and reserved_expired.
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
-- note: on claim, column "till" gets null as qgen:on says, not now + 5m as qgen:lease would
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that is claimed and has not begun is never recovered: its claim leaves till null, which is not over at any time; have the claim write a time as well, or leave the claimed state out
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* reservedq.Claim */ reserved
SET    state = 'held',
       held_at = now(),
       till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   reserved
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, held_at, till, body;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* reservedq.Claim */ reserved
SET    state = 'held',
       held_at = now(),
       till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   reserved
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, held_at, till, body;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: low
UPDATE /* reservedq.Claim */ reserved
SET    state = 'held',
       held_at = now(),
       till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   reserved
           WHERE  state = 'new'
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, held_at, till, body;

-- sql/start.sql
-- start: claimed to running
-- fence: held_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt
UPDATE /* reservedq.Start */ reserved
SET    state = 'busy',
       till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, held_at_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    state = 'held' THEN true END
RETURNING id, till;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: held_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt
UPDATE /* reservedq.Complete */ reserved
SET    state = 'done',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, held_at_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    state IN ('held', 'busy') THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: held_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt
UPDATE /* reservedq.Fail */ reserved
SET    state = 'failed',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, held_at_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    state IN ('held', 'busy') THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: held_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt
UPDATE /* reservedq.Requeue */ reserved
SET    state = 'new',
       held_at = NULL,
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, held_at_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    state IN ('held', 'busy') THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: held_at as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch HeldAt
UPDATE /* reservedq.Extend */ reserved
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, held_at_held)
WHERE  id = id_held
AND    CASE WHEN held_at = held_at_held
            AND    state IN ('held', 'busy') THEN true END
RETURNING id, till;

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE state IN ('held', 'busy')
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* reservedq.Recover */ reserved
SET    state = 'failed',
       till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   reserved
           WHERE  state IN ('held', 'busy')
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* reservedq.Redrive */ reserved
SET    state = 'new',
       held_at = NULL,
       till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   reserved
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* reservedq.Purge */ FROM reserved
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   reserved
           WHERE  state = 'done'
           AND    held_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (held_at) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* reservedq.Purge */ FROM reserved
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   reserved
           WHERE  state = 'failed'
           AND    held_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* reservedq.Enqueue */ INTO reserved
       (body)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Body
INSERT /* reservedq.EnqueueMany */ INTO reserved
       (body)
SELECT body_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* reservedq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'held') AS claimed,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state IN ('held', 'busy') AND till <= now()) AS expired,
       extract(epoch FROM now() - min(held_at) FILTER (WHERE state IN ('held', 'busy'))) AS oldest_running
FROM   reserved;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* reservedq.Backlog */
       count(*) AS ready
FROM   reserved
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* reservedq.Peek */
       id, till, body
FROM   reserved
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* reservedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* reservedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('held_at', 'timestamptz'),
               ('till', 'timestamptz'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('reserved')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* reservedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* reservedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('reserved_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('reserved_expired', 'till', 'till', 'statein''held'',''busy''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('reserved')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY reserved_ready ON reserved (id NULLS FIRST)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY reserved_expired ON reserved (till)
WHERE  state IN ('held', 'busy');
