-- Package jobsq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Looks-----------> done
-- 	running  --Twice-----------> (deleted)
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes history (Complete, Fail, Looks, Twice); watched (Requeue), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Owner, 2: low, 3: limit
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       owner = $1,
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner, tries, taken, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Owner, 2: low
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       owner = $1,
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner, tries, taken, body;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Owner, 2: low
UPDATE /* jobsq.Claim */ jobs
SET    state = 'busy',
       owner = $1,
       taken = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner, tries, taken, body;

-- sql/complete.sql
-- complete: running to done; adds rows to history
-- fence: taken, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner, 4: batch Note
WITH /* jobsq.Complete */ held AS (
    UPDATE jobs
    SET    state = 'done'
    FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[]) AS job (id_held, taken_held, owner_held, note_held)
    WHERE  id = id_held
    AND    CASE WHEN taken = taken_held
                AND    owner = owner_held
                AND    state = 'busy' THEN true END
    RETURNING id, owner, body, note_held
),
added AS (
    INSERT INTO history
           (job_id, who, size, note, ended)
    SELECT held.id, held.owner, (length(held.body)), note_held, now()
    FROM   held
    WHERE  (coalesce(length(held.body), 0) > 0)
)
SELECT id
FROM   held;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: taken, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
SELECT /* jobsq.Fail */
       id
FROM   jobs,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF jobs;

-- sql/retry_insert_history.sql
-- retry: inserts rows into history for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
INSERT /* jobsq.Fail */ INTO history
       (job_id, tries)
SELECT held.id, held.tries
FROM   jobs AS held,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  held.id = id_held
AND    CASE WHEN held.taken = taken_held
            AND    held.owner = owner_held THEN true END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: taken, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
UPDATE /* jobsq.Fail */ jobs
SET    state = 'new',
       owner = NULL,
       tries = tries + 1,
       taken = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: taken, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
SELECT /* jobsq.Fail */
       id
FROM   jobs,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF jobs;

-- sql/fail_insert_history.sql
-- fail: inserts rows into history for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
INSERT /* jobsq.Fail */ INTO history
       (job_id, note)
SELECT held.id, (remark(held.body))
FROM   jobs AS held,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  held.id = id_held
AND    CASE WHEN held.taken = taken_held
            AND    held.owner = owner_held THEN true END;

-- sql/fail.sql
-- fail: running to failed
-- fence: taken, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
UPDATE /* jobsq.Fail */ jobs
SET    state = 'failed',
       tries = tries + 1
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: taken, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
SELECT /* jobsq.Requeue */
       id
FROM   jobs,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF jobs;

-- sql/requeue_insert_watched.sql
-- requeue: inserts rows into watched for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
INSERT /* jobsq.Requeue */ INTO watched
       (job_id)
SELECT held.id
FROM   jobs AS held,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  held.id = id_held
AND    CASE WHEN held.taken = taken_held
            AND    held.owner = owner_held THEN true END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: taken, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
UPDATE /* jobsq.Requeue */ jobs
SET    state = 'new',
       owner = NULL,
       taken = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: taken, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
UPDATE /* jobsq.Extend */ jobs
SET    taken = now()
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
RETURNING id, taken;

-- sql/outcome_looks_lock.sql
-- outcome_looks: locks the rows of jobs whose claims are still theirs, which outcome_looks.sql then writes
-- fence: taken, owner as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
SELECT /* jobsq.Looks */
       id
FROM   jobs,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF jobs;

-- sql/outcome_looks_insert_history.sql
-- outcome_looks: inserts rows into history for the rows that outcome_looks_lock.sql locked, before outcome_looks.sql
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
INSERT /* jobsq.Looks */ INTO history
       (job_id, size)
SELECT held.id, ((select count(*) from history h where h.job_id = held.id))
FROM   jobs AS held,
       unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  held.id = id_held
AND    CASE WHEN held.taken = taken_held
            AND    held.owner = owner_held THEN true END;

-- sql/outcome_looks.sql
-- outcome_looks: running to done
-- fence: taken, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
UPDATE /* jobsq.Looks */ jobs
SET    state = 'done'
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN taken = taken_held
            AND    owner = owner_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/outcome_twice.sql
-- outcome_twice: running to deleted; adds rows to history
-- fence: taken, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Taken, 3: batch Owner
WITH /* jobsq.Twice */ held AS (
    DELETE FROM jobs
    USING  unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, taken_held, owner_held)
    WHERE  id = id_held
    AND    CASE WHEN taken = taken_held
                AND    owner = owner_held
                AND    state = 'busy' THEN true END
    RETURNING id
),
added AS (
    INSERT INTO history
           (job_id)
    SELECT held.id
    FROM   held
),
added_2 AS (
    INSERT INTO history
           (job_id, note)
    SELECT held.id, 'again'
    FROM   held
)
SELECT id
FROM   held;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (taken) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 'new',
       owner = NULL,
       tries = tries + 1,
       taken = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'busy'
           AND    tries < 2
           AND    taken <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (taken) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 'failed',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'busy'
           AND    tries >= 2
           AND    taken <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    state = 'new',
       owner = NULL,
       tries = 0,
       taken = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'done'
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (taken) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 'failed'
           AND    taken <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* jobsq.Enqueue */ INTO jobs
       (body)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Body
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (body)
SELECT body_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND taken <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(taken) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, tries, body
FROM   jobs
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('owner', 'text'),
               ('tries', 'integer'),
               ('taken', 'timestamptz'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of history
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('job_id', 'bigint'),
               ('who', 'text'),
               ('size', 'integer'),
               ('note', 'text'),
               ('ended', 'timestamptz'),
               ('tries', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('history')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also2.sql
-- verify: columns of watched
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('job_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('watched')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* jobsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('jobs_expired', 'taken', 'taken', 'state=''busy''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY jobs_ready ON jobs (id NULLS FIRST)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY jobs_expired ON jobs (taken)
WHERE  state = 'busy';
