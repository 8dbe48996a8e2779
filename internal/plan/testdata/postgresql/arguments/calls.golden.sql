-- Package callsq uses the table calls as a queue of jobs on PostgreSQL 9.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy advisory: locks on numbers keep claimers apart without waiting.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes and a number for each until it commits, and passes over numbers that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes history (Claim, Complete, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_ready.
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
-- note: no order is said: rows are taken in the order of the key, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, and a number for each, until commit; passes over numbers that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* callsq.Claim */ calls
SET    state = 'busy'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   (
               SELECT id
               FROM   calls
               WHERE  state = 'new'
               ORDER  BY id NULLS FIRST
               LIMIT  $1 * 4
           ) AS candidate
           WHERE  pg_try_advisory_xact_lock('calls'::regclass::oid::int, hashtext(id::text))
           LIMIT  $1))
AND    state = 'new'
RETURNING id;

-- sql/claim_update_history.sql
-- claim: updates rows of history for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key; of history one that begins with call_id
-- isolation: read committed
-- arguments: 1: given by int, 2: batch ID
UPDATE /* callsq.Claim */ history
SET    tried = (history.tried + $1::integer)
FROM   calls AS held
WHERE  held.id = ANY ($2::bigint[])
AND    history.call_id = held.id;

-- sql/complete.sql
-- complete: running to done; changes rows of history
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of history one that begins with call_id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Code, 3: batch Line, 4: batch Keep
WITH /* callsq.Complete */ held AS (
    UPDATE calls
    SET    state = 'done',
           code = code_held
    FROM   unnest($1::bigint[], $2::integer[], $3::text[], $4::double precision[]) AS job (id_held, code_held, line_held, keep_held)
    WHERE  id = id_held
    AND    CASE WHEN state = 'busy' THEN true END
    RETURNING id, code_held, line_held, keep_held
),
changed AS (
    UPDATE history
    SET    log = (history.log || line_held),
           code = (code_held),
           keep_to = now() + make_interval(secs => keep_held)
    FROM   held
    WHERE  history.call_id = held.id
)
SELECT id
FROM   held;

-- sql/fail.sql
-- fail: running to failed; changes rows of history
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of history one that begins with call_id
-- isolation: read committed
-- arguments: 1: batch ID, 2: given why string, 3: given keep time.Duration
WITH /* callsq.Fail */ held AS (
    UPDATE calls
    SET    state = 'failed'
    WHERE  id = ANY ($1::bigint[])
    AND    CASE WHEN state = 'busy' THEN true END
    RETURNING id
),
changed AS (
    UPDATE history
    SET    log = (history.log || $2::text),
           keep_to = now() + make_interval(secs => $3::double precision)
    FROM   held
    WHERE  history.call_id = held.id
)
SELECT id
FROM   held;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* callsq.Requeue */ calls
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* callsq.Redrive */ calls
SET    state = 'new'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    NO KEY UPDATE));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* callsq.Purge */ FROM calls
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  state = 'done'
           LIMIT  $1
           FOR    UPDATE));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'failed' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* callsq.Purge */ FROM calls
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  state = 'failed'
           LIMIT  $1
           FOR    UPDATE));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* callsq.Enqueue */ INTO calls
       (id, state)
VALUES ($1, 'new')
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID
INSERT /* callsq.EnqueueMany */ INTO calls
       (id, state)
SELECT id_new, 'new'
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (id_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* callsq.Backlog */
       count(*) AS ready
FROM   calls
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* callsq.Peek */
       id
FROM   calls
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 9.4'
WHERE  current_setting('server_version_num')::int < 90400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* callsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'varchar'),
               ('code', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('calls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of history
-- locks: none
SELECT /* callsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('tried', 'integer'),
               ('call_id', 'bigint'),
               ('log', 'text'),
               ('code', 'integer'),
               ('keep_to', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('history')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* callsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* callsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('calls_ready', 'id nulls first', 'id nulls first', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('calls')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY calls_ready ON calls (id NULLS FIRST)
WHERE  state = 'new';
