-- Package jobsq uses the table jobs as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Discard---------> (deleted)
-- 	running  --Refused---------> failed
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes parts (Complete, Discard), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
-- note: rows are taken as they came, by column "ref"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (ref NULLS FIRST) WHERE status = 1
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* jobsq.Claim */ jobs
SET    status = 3,
       till = now() + interval '5 minutes'
WHERE  ref = ANY (ARRAY(
           SELECT ref
           FROM   jobs
           WHERE  status = 1
           AND    ref > $1
           ORDER  BY ref NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING ref, job_data, till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (ref NULLS FIRST) WHERE status = 1
-- isolation: read committed
-- arguments: 1: low
UPDATE /* jobsq.Claim */ jobs
SET    status = 3,
       till = now() + interval '5 minutes'
WHERE  ref = ANY (ARRAY(
           SELECT ref
           FROM   jobs
           WHERE  status = 1
           AND    ref > $1
           ORDER  BY ref NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING ref, job_data, till;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (ref NULLS FIRST) WHERE status = 1
-- isolation: read committed
-- arguments: 1: low
UPDATE /* jobsq.Claim */ jobs
SET    status = 3,
       till = now() + interval '5 minutes'
WHERE  ref = ANY (ARRAY(
           SELECT ref
           FROM   jobs
           WHERE  status = 1
           AND    ref > $1
           ORDER  BY ref NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING ref, job_data, till;

-- sql/complete.sql
-- complete: running to done; deletes rows of parts
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of parts one that begins with job
-- isolation: read committed
-- arguments: 1: batch Ref, 2: batch Till
WITH /* jobsq.Complete */ held AS (
    UPDATE jobs
    SET    status = 2,
           till = NULL
    FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (ref_held, till_held)
    WHERE  ref = ref_held
    AND    CASE WHEN till = till_held
                AND    status = 3 THEN true END
    RETURNING ref
),
deleted AS (
    DELETE FROM parts
    USING  held
    WHERE  parts.job = held.ref
)
SELECT ref
FROM   held;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Ref, 2: batch Till
UPDATE /* jobsq.Fail */ jobs
SET    status = 5,
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (ref_held, till_held)
WHERE  ref = ref_held
AND    CASE WHEN till = till_held
            AND    status = 3 THEN true END
RETURNING ref;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Ref, 2: batch Till
UPDATE /* jobsq.Requeue */ jobs
SET    status = 1,
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (ref_held, till_held)
WHERE  ref = ref_held
AND    CASE WHEN till = till_held
            AND    status = 3 THEN true END
RETURNING ref;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Ref, 2: batch Till
UPDATE /* jobsq.Extend */ jobs
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (ref_held, till_held)
WHERE  ref = ref_held
AND    CASE WHEN till = till_held
            AND    status = 3 THEN true END
RETURNING ref, till;

-- sql/outcome_discard_lock.sql
-- outcome_discard: locks the rows of jobs whose claims are still theirs, which outcome_discard.sql then writes
-- fence: till as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Ref, 2: batch Till
SELECT /* jobsq.Discard */
       ref
FROM   jobs,
       unnest($1::bigint[], $2::timestamptz[]) AS job (ref_held, till_held)
WHERE  ref = ref_held
AND    CASE WHEN till = till_held
            AND    status = 3 THEN true END
FOR    UPDATE OF jobs;

-- sql/outcome_discard_delete_parts.sql
-- outcome_discard: deletes rows from parts for the rows that outcome_discard_lock.sql locked, before outcome_discard.sql
-- locks: the rows it writes, until commit
-- index: the key; of parts one that begins with job
-- isolation: read committed
-- arguments: 1: batch Ref, 2: batch Till
DELETE /* jobsq.Discard */ FROM parts
USING  jobs AS held,
       unnest($1::bigint[], $2::timestamptz[]) AS job (ref_held, till_held)
WHERE  held.ref = ref_held
AND    CASE WHEN held.till = till_held THEN true END
AND    parts.job = held.ref;

-- sql/outcome_discard.sql
-- outcome_discard: running to deleted
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Ref, 2: batch Till
DELETE /* jobsq.Discard */ FROM jobs
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (ref_held, till_held)
WHERE  ref = ref_held
AND    CASE WHEN till = till_held
            AND    status = 3 THEN true END
RETURNING ref;

-- sql/outcome_refused.sql
-- outcome_refused: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: given data string, 2: batch Ref, 3: batch Till
UPDATE /* jobsq.Refused */ jobs
SET    status = 5,
       job_data = $1,
       till = NULL
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (ref_held, till_held)
WHERE  ref = ref_held
AND    CASE WHEN till = till_held
            AND    status = 3 THEN true END
RETURNING ref;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE status = 3
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ jobs
SET    status = 1,
       till = NULL
WHERE  ref = ANY (ARRAY(
           SELECT ref
           FROM   jobs
           WHERE  status = 3
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ jobs
SET    status = 1,
       till = NULL
WHERE  ref = ANY (ARRAY(
           SELECT ref
           FROM   jobs
           WHERE  status = 5
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ref) WHERE status = 2 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  ref = ANY (ARRAY(
           SELECT ref
           FROM   jobs
           WHERE  status = 2
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ref) WHERE status = 5 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM jobs
WHERE  ref = ANY (ARRAY(
           SELECT ref
           FROM   jobs
           WHERE  status = 5
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobData
INSERT /* jobsq.Enqueue */ INTO jobs
       (job_data)
VALUES ($1)
RETURNING ref;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch JobData
INSERT /* jobsq.EnqueueMany */ INTO jobs
       (job_data)
SELECT job_data_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (job_data_new, job_order)
ORDER  BY job_order
RETURNING ref;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(*) FILTER (WHERE status = 1) AS ready,
       count(*) FILTER (WHERE status = 3) AS running,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 5) AS failed,
       count(*) FILTER (WHERE status = 3 AND till <= now()) AS expired
FROM   jobs;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (ref NULLS FIRST) WHERE status = 1
SELECT /* jobsq.Backlog */
       count(*) AS ready
FROM   jobs
WHERE  status = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (ref NULLS FIRST) WHERE status = 1
-- isolation: read committed
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       ref, job_data
FROM   jobs
WHERE  status = 1
ORDER  BY ref NULLS FIRST
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
FROM   (VALUES ('ref', 'bigint'),
               ('status', 'integer'),
               ('job_data', 'text'),
               ('till', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of parts
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('job', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('parts')
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
FROM   (VALUES ('jobs_ready', 'ref nulls first', 'ref nulls first', 'status=1'),
               ('jobs_expired', 'till', 'till', 'status=3')) AS want (name, columns, least, predicate)
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
CREATE INDEX CONCURRENTLY jobs_ready ON jobs (ref NULLS FIRST)
WHERE  status = 1;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY jobs_expired ON jobs (till)
WHERE  status = 3;
