-- Package jobsq uses the table jobs as a queue of jobs on PostgreSQL 9.4 and later.
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
-- Jobs are claimed by the strategy advisory: locks on numbers keep claimers apart without waiting.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes and a number for each until it commits, and passes over numbers that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes runs (Claim, Complete, Fail, Redrive); answers (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready and jobs_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    PostgreSQL 9.4 cannot pass over locked rows
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  PostgreSQL 9.4 cannot pass over locked rows
-- * advisory     locks on numbers keep claimers apart without waiting
--   guarded      not needed: advisory comes first
--   pop          a taken row is gone, so it must be asked for
-- note: column "code" stays as it is when a job fails because its claim ran out (giveup)
-- note: column "why" of runs is left out when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, and a number for each, until commit; passes over numbers that are locked
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Claim */ jobs
SET    state = 1,
       lease_till = now() + interval '5 minutes',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   (
               SELECT id
               FROM   jobs
               WHERE  state = 0
               ORDER  BY id NULLS FIRST
               LIMIT  $1 * 4
           ) AS candidate
           WHERE  pg_try_advisory_xact_lock('jobs'::regclass::oid::int, hashtext(id::text))
           LIMIT  $1))
AND    state = 0
RETURNING id, lease_till, tries, body;

-- sql/claim_insert_runs.sql
-- claim: inserts rows into runs for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: worker Host, 2: given node *string, 3: batch ID
INSERT /* jobsq.Claim */ INTO runs
       (job_id, host, node)
SELECT held.id, $1::varchar, $2::varchar
FROM   jobs AS held
WHERE  held.id = ANY ($3::bigint[]);

-- sql/complete.sql
-- complete: running to done; adds rows to answers; deletes rows of runs
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of runs one that begins with job_id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Code, 4: batch Answer, 5: batch BodyValue, 6: batch Weight, 7: batch At
WITH /* jobsq.Complete */ held AS (
    UPDATE jobs
    SET    state = 2,
           lease_till = NULL,
           code = code_held
    FROM   unnest($1::bigint[], $2::integer[], $3::integer[], $4::varchar[], $5::bytea[], $6::numeric[], $7::timestamptz[]) AS job (id_held, tries_held, code_held, c4_held, body_held, weight_held, answered_at_held)
    WHERE  id = id_held
    AND    CASE WHEN tries = tries_held
                AND    state = 1 THEN true END
    RETURNING id, c4_held, body_held, weight_held, answered_at_held
),
added AS (
    INSERT INTO answers
           (id, code, body, weight, answered_at)
    SELECT held.id, c4_held, body_held, weight_held, answered_at_held
    FROM   held
),
deleted AS (
    DELETE FROM runs
    USING  held
    WHERE  runs.job_id = held.id
)
SELECT id
FROM   held;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* jobsq.Fail */ jobs
SET    state = 0,
       lease_till = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed; changes rows of runs
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of runs one that begins with job_id, host
-- isolation: read committed
-- arguments: 1: given code *int32, 2: batch ID, 3: batch Tries, 4: given why *string, 5: worker Host
WITH /* jobsq.Fail */ held AS (
    UPDATE jobs
    SET    state = 3,
           lease_till = NULL,
           code = $1
    FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
    WHERE  id = id_held
    AND    CASE WHEN tries = tries_held
                AND    state = 1 THEN true END
    RETURNING id
),
changed AS (
    UPDATE runs
    SET    why = $4::varchar
    FROM   held
    WHERE  runs.job_id = held.id
    AND    runs.host = $5::varchar
)
SELECT id
FROM   held;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* jobsq.Requeue */ jobs
SET    state = 0,
       lease_till = NULL,
       tries = tries - 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* jobsq.Extend */ jobs
SET    lease_till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 1 THEN true END
RETURNING id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (lease_till) WHERE state = 1
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 0,
       lease_till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 1
           AND    tries < 3
           AND    lease_till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (lease_till) WHERE state = 1
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    state = 3,
       lease_till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 1
           AND    tries >= 3
           AND    lease_till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE));

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Redrive */
       id
FROM   jobs
WHERE  state = 3
LIMIT  $1
FOR    NO KEY UPDATE;

-- sql/redrive_update_runs.sql
-- redrive: updates rows of runs for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the rows it writes, until commit
-- index: the key; of runs one that begins with job_id
-- isolation: read committed
-- arguments: 1: given why *string, 2: batch ID
UPDATE /* jobsq.Redrive */ runs
SET    why = $1::varchar
FROM   jobs AS held
WHERE  held.id = ANY ($2::bigint[])
AND    runs.job_id = held.id;

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* jobsq.Redrive */ jobs
SET    state = 0,
       lease_till = NULL,
       tries = 0
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 3 THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 2 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 2
           LIMIT  $1
           FOR    UPDATE));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 3 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   jobs
           WHERE  state = 3
           LIMIT  $1
           FOR    UPDATE));

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
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state = 3) AS failed,
       count(*) FILTER (WHERE state = 1 AND lease_till <= now()) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 0
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       id, tries, body
FROM   jobs
WHERE  state = 0
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 9.4'
WHERE  current_setting('server_version_num')::int < 90400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'integer'),
               ('lease_till', 'timestamptz'),
               ('tries', 'integer'),
               ('code', 'integer'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of runs
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('job_id', 'bigint'),
               ('host', 'varchar'),
               ('node', 'varchar'),
               ('why', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('runs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also2.sql
-- verify: columns of answers
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('code', 'varchar'),
               ('body', 'bytea'),
               ('weight', 'numeric'),
               ('answered_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('answers')
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
FROM   (VALUES ('jobs_ready', 'id nulls first', 'id nulls first', 'state=0'),
               ('jobs_expired', 'lease_till', 'lease_till', 'state=1')) AS want (name, columns, least, predicate)
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
WHERE  state = 0;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY jobs_expired ON jobs (lease_till)
WHERE  state = 1;
