-- Package filesq uses the tables files and files_acquired as a queue of jobs on YugabyteDB 2.20 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (files_failed)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (files_failed), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes files_failed (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates files_acquired_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: rows are taken as they came, by column "id"; order 1 at column "not_before" takes them by their time, and reads none that wait for theirs
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: worker AcquiredBy, 3: token Mark
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               WHERE  (not_before <= now() OR not_before IS NULL)
               ORDER  BY id
               LIMIT  $1
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.path, files.size, files.tries, files.problem
)
INSERT INTO files_acquired
       (id, path, size, tries, problem, acquired_by, acquired_at, lease_till, mark)
SELECT gone.id, gone.path, gone.size, gone.tries + 1, gone.problem, $2::text, now(),
       now() + interval '5 minutes', $3::uuid
FROM   gone
RETURNING id, path, size, tries, problem, acquired_at, lease_till, mark;

-- sql/claim_1.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: worker AcquiredBy, 2: token Mark
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               WHERE  (not_before <= now() OR not_before IS NULL)
               ORDER  BY id
               LIMIT  1
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.path, files.size, files.tries, files.problem
)
INSERT INTO files_acquired
       (id, path, size, tries, problem, acquired_by, acquired_at, lease_till, mark)
SELECT gone.id, gone.path, gone.size, gone.tries + 1, gone.problem, $1::text, now(),
       now() + interval '5 minutes', $2::uuid
FROM   gone
RETURNING id, path, size, tries, problem, acquired_at, lease_till, mark;

-- sql/claim_100.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: worker AcquiredBy, 2: token Mark
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               WHERE  (not_before <= now() OR not_before IS NULL)
               ORDER  BY id
               LIMIT  100
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.path, files.size, files.tries, files.problem
)
INSERT INTO files_acquired
       (id, path, size, tries, problem, acquired_by, acquired_at, lease_till, mark)
SELECT gone.id, gone.path, gone.size, gone.tries + 1, gone.problem, $1::text, now(),
       now() + interval '5 minutes', $2::uuid
FROM   gone
RETURNING id, path, size, tries, problem, acquired_at, lease_till, mark;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* filesq.Complete */ FROM files_acquired
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
SELECT /* filesq.Fail */
       id
FROM   files_acquired,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
FOR    UPDATE OF files_acquired;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to files before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch ID, 4: batch Mark
INSERT /* filesq.Fail */ INTO files
       (id, path, size, tries, not_before, problem)
SELECT held.id, held.path, held.size, held.tries, now() + make_interval(secs => $1), $2
FROM   files_acquired AS held,
       unnest($3::bigint[], $4::uuid[]) AS job (id_held, mark_held)
WHERE  held.id = id_held
AND    CASE WHEN held.mark = mark_held THEN true END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* filesq.Fail */ FROM files_acquired
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
SELECT /* filesq.Fail */
       id
FROM   files_acquired,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
FOR    UPDATE OF files_acquired;

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to files_failed before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Mark
INSERT /* filesq.Fail */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, $1
FROM   files_acquired AS held,
       unnest($2::bigint[], $3::uuid[]) AS job (id_held, mark_held)
WHERE  held.id = id_held
AND    CASE WHEN held.mark = mark_held THEN true END;

-- sql/fail.sql
-- fail: running to failed
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* filesq.Fail */ FROM files_acquired
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
SELECT /* filesq.Requeue */
       id
FROM   files_acquired,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
FOR    UPDATE OF files_acquired;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to files before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Mark
INSERT /* filesq.Requeue */ INTO files
       (id, path, size, tries, not_before, problem)
SELECT held.id, held.path, held.size, held.tries - 1,
       CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE now() END,
       held.problem
FROM   files_acquired AS held,
       unnest($2::bigint[], $3::uuid[]) AS job (id_held, mark_held)
WHERE  held.id = id_held
AND    CASE WHEN held.mark = mark_held THEN true END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* filesq.Requeue */ FROM files_acquired
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* filesq.Extend */ files_acquired
SET    lease_till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id, lease_till;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (lease_till)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Recover */
       id
FROM   files_acquired
WHERE  tries < 5
AND    lease_till <= now()
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to files before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* filesq.Recover */ INTO files
       (id, path, size, tries, problem)
SELECT held.id, held.path, held.size, held.tries, held.problem
FROM   files_acquired AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* filesq.Recover */ FROM files_acquired
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN tries < 5 THEN true END
RETURNING id;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (lease_till)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Recover */
       id
FROM   files_acquired
WHERE  tries >= 5
AND    lease_till <= now()
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to files_failed before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* filesq.Recover */ INTO files_failed
       (id, path, tries, problem)
SELECT held.id, held.path, held.tries, 'the claim ran out'
FROM   files_acquired AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* filesq.Recover */ FROM files_acquired
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN tries >= 5 THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Path, 2: new Size, 3: new NotBefore
INSERT /* filesq.Enqueue */ INTO files
       (path, size, not_before)
VALUES ($1, coalesce($2::bigint, 0), $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Path, 2: new_batch Size, 3: new_batch NotBefore
INSERT /* filesq.EnqueueMany */ INTO files
       (path, size, not_before)
SELECT path_new, coalesce(size_new, 0), not_before_new
FROM   unnest($1::text[], $2::bigint[], $3::timestamptz[]) WITH ORDINALITY AS job (path_new, size_new, not_before_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       ready,
       delayed,
       oldest_ready,
       running,
       expired,
       oldest_running
FROM   (
           SELECT count(*) FILTER (WHERE (not_before <= now() OR not_before IS NULL)) AS ready,
                  count(*) FILTER (WHERE not_before > now()) AS delayed,
                  extract(epoch FROM now() - min(not_before) FILTER (WHERE (not_before <= now() OR not_before IS NULL))) AS oldest_ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(*) FILTER (WHERE lease_till <= now()) AS expired,
                  extract(epoch FROM now() - min(acquired_at)) AS oldest_running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */
       id, path, size, tries, problem
FROM   files
WHERE  (not_before <= now() OR not_before IS NULL)
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2.20'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 220
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('path', 'text'),
               ('size', 'bigint'),
               ('tries', 'integer'),
               ('problem', 'text'),
               ('acquired_by', 'text'),
               ('acquired_at', 'timestamptz'),
               ('lease_till', 'timestamptz'),
               ('mark', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files_acquired')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of files_failed
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('path', 'text'),
               ('tries', 'integer'),
               ('problem', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files_failed')
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
               ('path', 'text'),
               ('size', 'bigint'),
               ('tries', 'integer'),
               ('not_before', 'timestamptz'),
               ('problem', 'text')) AS want (name, type)
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
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('files_acquired_expired', 'lease_till', 'lease_till', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over: files_pkey serves already

-- serves Recover: claims that ran out
CREATE INDEX files_acquired_expired ON files_acquired (lease_till ASC);
