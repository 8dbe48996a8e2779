-- Package itemsq uses the table items as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: column "expires" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE available IN (1, 0) AND remaining > 0
-- isolation: read committed
-- arguments: 1: token Mark, 2: low, 3: limit
UPDATE /* itemsq.Claim */ items
SET    available = 0,
       expires = now() + interval '5 minutes',
       remaining = remaining - 1,
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= now() OR available = 1)
           AND    remaining > 0
           AND    (due_at <= now() OR due_at IS NULL)
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, expires, due_at, remaining, mark;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE available IN (1, 0) AND remaining > 0
-- isolation: read committed
-- arguments: 1: token Mark, 2: low
UPDATE /* itemsq.Claim */ items
SET    available = 0,
       expires = now() + interval '5 minutes',
       remaining = remaining - 1,
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= now() OR available = 1)
           AND    remaining > 0
           AND    (due_at <= now() OR due_at IS NULL)
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, expires, due_at, remaining, mark;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE available IN (1, 0) AND remaining > 0
-- isolation: read committed
-- arguments: 1: token Mark, 2: low
UPDATE /* itemsq.Claim */ items
SET    available = 0,
       expires = now() + interval '5 minutes',
       remaining = remaining - 1,
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= now() OR available = 1)
           AND    remaining > 0
           AND    (due_at <= now() OR due_at IS NULL)
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, expires, due_at, remaining, mark;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* itemsq.Complete */ FROM items
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    available = 0 THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Mark
UPDATE /* itemsq.Fail */ items
SET    available = 1,
       expires = NULL,
       due_at = now() + make_interval(secs => $1),
       mark = NULL
FROM   unnest($2::bigint[], $3::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    available = 0 THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* itemsq.Fail */ items
SET    available = 1,
       expires = NULL,
       remaining = 0,
       mark = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    available = 0 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Mark
UPDATE /* itemsq.Requeue */ items
SET    available = 1,
       expires = NULL,
       due_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE due_at END,
       remaining = remaining + 1,
       mark = NULL
FROM   unnest($2::bigint[], $3::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    available = 0 THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* itemsq.Extend */ items
SET    expires = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    available = 0 THEN true END
RETURNING id, expires;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* itemsq.Redrive */ items
SET    available = 1,
       expires = NULL,
       remaining = 5,
       mark = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= now() OR available = 1)
           AND    remaining <= 0
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
DELETE /* itemsq.Purge */ FROM items
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   items
           WHERE  available IN (1, 0)
           AND    (expires <= now() OR available = 1)
           AND    remaining <= 0
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt
INSERT /* itemsq.Enqueue */ INTO items
       (due_at)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch DueAt
INSERT /* itemsq.EnqueueMany */ INTO items
       (due_at)
SELECT due_at_new
FROM   unnest($1::timestamptz[]) WITH ORDINALITY AS job (due_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(*) FILTER (WHERE available IN (1, 0) AND (expires <= now() OR available = 1) AND remaining > 0 AND (due_at <= now() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE available = 0 AND expires > now()) AS running,
       count(*) FILTER (WHERE available IN (1, 0) AND (expires <= now() OR available = 1) AND remaining <= 0) AS failed,
       count(*) FILTER (WHERE available IN (1, 0) AND remaining > 0 AND due_at > now()) AS delayed,
       count(*) FILTER (WHERE available = 0 AND expires <= now()) AS expired,
       extract(epoch FROM now() - min(due_at) FILTER (WHERE available IN (1, 0) AND (expires <= now() OR available = 1) AND remaining > 0 AND (due_at <= now() OR due_at IS NULL))) AS oldest_ready
FROM   items;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE available IN (1, 0) AND remaining > 0
SELECT /* itemsq.Backlog */
       count(*) FILTER (WHERE (expires <= now() OR available = 1) AND (due_at <= now() OR due_at IS NULL)) AS ready,
       count(*) FILTER (WHERE due_at > now()) AS delayed,
       extract(epoch FROM now() - min(due_at) FILTER (WHERE (expires <= now() OR available = 1) AND (due_at <= now() OR due_at IS NULL))) AS oldest_ready
FROM   items
WHERE  available IN (1, 0)
AND    remaining > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE available IN (1, 0) AND remaining > 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* itemsq.Peek */
       id, due_at, remaining
FROM   items
WHERE  available IN (1, 0)
AND    (expires <= now() OR available = 1)
AND    remaining > 0
AND    (due_at <= now() OR due_at IS NULL)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* itemsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('available', 'integer'),
               ('expires', 'timestamptz'),
               ('due_at', 'timestamptz'),
               ('remaining', 'integer'),
               ('mark', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('items')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* itemsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* itemsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('items_ready', 'id nulls first', 'id nulls first', 'availablein1,0andremaining>0')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('items')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY items_ready ON items (id NULLS FIRST)
WHERE  available IN (1, 0)
AND    remaining > 0;
