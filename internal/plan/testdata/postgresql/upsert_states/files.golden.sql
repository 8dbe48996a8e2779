-- Package filesq uses the tables files and files_acquired as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates files_acquired_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, id
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in name (unique key files_name): Fail, Requeue or Recover fails then, for all rows of the call, until one of the two is gone; Fail or Requeue of one job at a time tells which it is, and Complete ends it
-- note: enqueue=update changes the row that is like a new job in name (unique key files_name): size = {size}
-- note: enqueue=update looks at files alone: a job that runs is a row of files_acquired, and another is added beside it

-- sql/claim.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               ORDER  BY id
               LIMIT  $1
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.name, files.size
)
INSERT INTO files_acquired
       (id, name, size, acquired)
SELECT gone.id, gone.name, gone.size, now()
FROM   gone
RETURNING id, name, size, acquired;

-- sql/claim_1.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               ORDER  BY id
               LIMIT  1
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.name, files.size
)
INSERT INTO files_acquired
       (id, name, size, acquired)
SELECT gone.id, gone.name, gone.size, now()
FROM   gone
RETURNING id, name, size, acquired;

-- sql/claim_100.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               ORDER  BY id
               LIMIT  100
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.name, files.size
)
INSERT INTO files_acquired
       (id, name, size, acquired)
SELECT gone.id, gone.name, gone.size, now()
FROM   gone
RETURNING id, name, size, acquired;

-- sql/complete.sql
-- complete: running to done
-- fence: acquired as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Acquired
DELETE /* filesq.Complete */ FROM files_acquired
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, acquired_held)
WHERE  id = id_held
AND    CASE WHEN acquired = acquired_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready; the rows go to files
-- fence: acquired as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Acquired
WITH /* filesq.Fail */ held AS (
    DELETE FROM files_acquired
    USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, acquired_held)
    WHERE  id = id_held
    AND    CASE WHEN acquired = acquired_held THEN true END
    RETURNING id, name, size
),
added AS (
    INSERT INTO files
           (id, name, size)
    SELECT held.id, held.name, held.size
    FROM   held
)
SELECT id
FROM   held;

-- sql/requeue.sql
-- requeue: running to ready, no try used; the rows go to files
-- fence: acquired as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Acquired
WITH /* filesq.Requeue */ held AS (
    DELETE FROM files_acquired
    USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, acquired_held)
    WHERE  id = id_held
    AND    CASE WHEN acquired = acquired_held THEN true END
    RETURNING id, name, size
),
added AS (
    INSERT INTO files
           (id, name, size)
    SELECT held.id, held.name, held.size
    FROM   held
)
SELECT id
FROM   held;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: acquired as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Acquired
UPDATE /* filesq.Extend */ files_acquired
SET    acquired = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, acquired_held)
WHERE  id = id_held
AND    CASE WHEN acquired = acquired_held THEN true END
RETURNING id, acquired;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (acquired)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Recover */
       id
FROM   files_acquired
WHERE  acquired <= now() - interval '5 minutes'
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to files before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* filesq.Recover */ INTO files
       (id, name, size)
SELECT held.id, held.name, held.size
FROM   files_acquired AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* filesq.Recover */ FROM files_acquired
WHERE  id = ANY ($1::bigint[])
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in name (unique key files_name)
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new ID, 2: new Name, 3: new Size
INSERT /* filesq.Enqueue */ INTO files
       (id, name, size)
VALUES ($1, $2, $3)
ON     CONFLICT (name) DO UPDATE
SET    size = excluded.size
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       ready,
       running,
       expired,
       oldest_running
FROM   (
           SELECT count(*) AS ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(*) FILTER (WHERE acquired <= now() - interval '5 minutes') AS expired,
                  extract(epoch FROM now() - min(acquired)) AS oldest_running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */
       id, name, size
FROM   files
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('name', 'text'),
               ('size', 'bigint'),
               ('acquired', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files_acquired')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_ready.sql
-- verify: columns of files
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('name', 'text'),
               ('size', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index_ready.sql
-- verify: index of files
-- locks: none
SELECT /* filesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('files_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('files')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* filesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('files_acquired_expired', 'acquired', 'acquired', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('files_acquired')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: files_pkey serves already

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY files_acquired_expired ON files_acquired (acquired);
