-- Package movedq uses the tables moved and moved_running as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> (deleted), when its claim expired
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to moved_running, whose unique key lets one worker have it.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates moved_running_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to moved_running, whose unique key lets one worker have it
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running, from moved to moved_running
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* movedq.Claim */ gone AS (
    DELETE FROM moved
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   moved
               ORDER  BY id
               LIMIT  $1
               FOR    UPDATE SKIP LOCKED))
    RETURNING moved.id, moved.body
)
INSERT INTO moved_running
       (id, body, until)
SELECT gone.id, gone.body, now() + interval '5 minutes'
FROM   gone
RETURNING id, body, until;

-- sql/claim_1.sql
-- claim: ready to running, from moved to moved_running
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
WITH /* movedq.Claim */ gone AS (
    DELETE FROM moved
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   moved
               ORDER  BY id
               LIMIT  1
               FOR    UPDATE SKIP LOCKED))
    RETURNING moved.id, moved.body
)
INSERT INTO moved_running
       (id, body, until)
SELECT gone.id, gone.body, now() + interval '5 minutes'
FROM   gone
RETURNING id, body, until;

-- sql/claim_100.sql
-- claim: ready to running, from moved to moved_running
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
WITH /* movedq.Claim */ gone AS (
    DELETE FROM moved
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   moved
               ORDER  BY id
               LIMIT  100
               FOR    UPDATE SKIP LOCKED))
    RETURNING moved.id, moved.body
)
INSERT INTO moved_running
       (id, body, until)
SELECT gone.id, gone.body, now() + interval '5 minutes'
FROM   gone
RETURNING id, body, until;

-- sql/complete.sql
-- complete: running to done
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
DELETE /* movedq.Complete */ FROM moved_running
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
DELETE /* movedq.Fail */ FROM moved_running
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used; the rows go to moved
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
WITH /* movedq.Requeue */ held AS (
    DELETE FROM moved_running
    USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
    WHERE  id = id_held
    AND    CASE WHEN until = until_held THEN true END
    RETURNING id, body
),
added AS (
    INSERT INTO moved
           (id, body)
    SELECT held.id, held.body
    FROM   held
)
SELECT id
FROM   held;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
UPDATE /* movedq.Extend */ moved_running
SET    until = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held THEN true END
RETURNING id, until;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (until)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* movedq.Recover */ FROM moved_running
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   moved_running
           WHERE  until <= now()
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* movedq.Enqueue */ INTO moved
       (body)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Body
INSERT /* movedq.EnqueueMany */ INTO moved
       (body)
SELECT body_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* movedq.Stats */
       ready,
       running,
       expired
FROM   (
           SELECT count(*) AS ready
           FROM   moved
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(*) FILTER (WHERE until <= now()) AS expired
           FROM   moved_running
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* movedq.Peek */
       id, body
FROM   moved
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* movedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* movedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('body', 'text'),
               ('until', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('moved_running')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_ready.sql
-- verify: columns of moved
-- locks: none
SELECT /* movedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('moved')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index_ready.sql
-- verify: index of moved
-- locks: none
SELECT /* movedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('moved_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('moved')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* movedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* movedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('moved_running_expired', 'until', 'until', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('moved_running')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: moved_pkey serves already

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY moved_running_expired ON moved_running (until);
