-- Package stampedq uses the table stamped as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Whether a job may be done twice beside the old program of legacy_claim cannot be told. After it has taken a row: it writes free = false, till = $1, mark = $2, and nothing tells whether such a row still has (till <= now() OR free = true). Write the value itself in legacy_claim where the old program always writes the same.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: column "till" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- old program: exclude each other: cannot tell
-- old program: after a claim: yes: a claim writes mark = {token}, and the old program asks under the row's lock for mark = $4, which is taken to be a value that it has read of a ready row
-- old program: after the old one: cannot tell: it writes free = false, till = $1, mark = $2, and nothing tells whether such a row still has (till <= now() OR free = true)
-- old program: rows of the old one: cannot tell: they may be ready or running, as what it writes turns out
-- old program: rows of a claim: do not look free to it: mark = $4 is false of them
-- old program: what to do: Write the value itself in legacy_claim where the old program always writes the same.

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark, 2: low, 3: limit
UPDATE /* stampedq.Claim */ stamped
SET    free = false,
       till = now() + interval '5 minutes',
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   stamped
           WHERE  (till <= now() OR free = true)
           AND    id > $2
           ORDER  BY id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, mark;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark, 2: low
UPDATE /* stampedq.Claim */ stamped
SET    free = false,
       till = now() + interval '5 minutes',
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   stamped
           WHERE  (till <= now() OR free = true)
           AND    id > $2
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, mark;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark, 2: low
UPDATE /* stampedq.Claim */ stamped
SET    free = false,
       till = now() + interval '5 minutes',
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   stamped
           WHERE  (till <= now() OR free = true)
           AND    id > $2
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, mark;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* stampedq.Complete */ FROM stamped
USING  unnest($1::bigint[], $2::text[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    free = false THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* stampedq.Fail */ stamped
SET    free = true,
       till = NULL
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    free = false THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* stampedq.Requeue */ stamped
SET    free = true,
       till = NULL
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    free = false THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* stampedq.Extend */ stamped
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    free = false THEN true END
RETURNING id, till;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Mark
INSERT /* stampedq.Enqueue */ INTO stamped
       (mark)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Mark
INSERT /* stampedq.EnqueueMany */ INTO stamped
       (mark)
SELECT mark_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (mark_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stampedq.Stats */
       count(*) FILTER (WHERE (till <= now() OR free = true)) AS ready,
       count(*) FILTER (WHERE free = false AND till > now()) AS running,
       count(*) FILTER (WHERE free = false AND till <= now()) AS expired
FROM   stamped;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stampedq.Peek */
       id, mark
FROM   stamped
WHERE  (till <= now() OR free = true)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stampedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stampedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('free', 'boolean'),
               ('till', 'timestamptz'),
               ('mark', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('stamped')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* stampedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stampedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('stamped_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('stamped')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: stamped_pkey serves already
