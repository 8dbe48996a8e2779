-- Package compositeq uses the table d_mm7 as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates d_mm7_composite_ready.
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
-- note: no order is said: rows are taken in the order of the key, message_id, id
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (message_id NULLS FIRST, id) WHERE status = 'Q'
-- isolation: read committed
-- arguments: 1: limit
WITH /* compositeq.Claim */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm7
    WHERE  status = 'Q'
    ORDER  BY message_id NULLS FIRST, id
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE d_mm7
SET    status = 'R'
FROM   picked
WHERE  d_mm7.message_id = picked.message_id
AND    d_mm7.id = picked.id
RETURNING d_mm7.message_id, d_mm7.id, d_mm7.server_id, d_mm7.send_attempts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (message_id NULLS FIRST, id) WHERE status = 'Q'
-- isolation: read committed
WITH /* compositeq.Claim */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm7
    WHERE  status = 'Q'
    ORDER  BY message_id NULLS FIRST, id
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE d_mm7
SET    status = 'R'
FROM   picked
WHERE  d_mm7.message_id = picked.message_id
AND    d_mm7.id = picked.id
RETURNING d_mm7.message_id, d_mm7.id, d_mm7.server_id, d_mm7.send_attempts;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (message_id NULLS FIRST, id) WHERE status = 'Q'
-- isolation: read committed
WITH /* compositeq.Claim */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm7
    WHERE  status = 'Q'
    ORDER  BY message_id NULLS FIRST, id
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE d_mm7
SET    status = 'R'
FROM   picked
WHERE  d_mm7.message_id = picked.message_id
AND    d_mm7.id = picked.id
RETURNING d_mm7.message_id, d_mm7.id, d_mm7.server_id, d_mm7.send_attempts;

-- sql/payload.sql
-- payload: what claimed jobs have in d_mc7
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch MessageID, 2: batch ID
SELECT /* compositeq.Payload */
       d_mm7.message_id, d_mm7.id, c.content
FROM   unnest($1::bigint[], $2::integer[]) AS job (message_id_held, id_held)
       JOIN d_mm7
       ON  d_mm7.message_id = message_id_held
       AND d_mm7.id = id_held
       LEFT JOIN d_mc7 c
       ON  (c.message_id = d_mm7.message_id and c.metadata_id = d_mm7.id and c.content_type = 4);

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch MessageID, 2: batch ID
UPDATE /* compositeq.Complete */ d_mm7
SET    status = 'S'
FROM   unnest($1::bigint[], $2::integer[]) AS job (message_id_held, id_held)
WHERE  message_id = message_id_held
AND    id = id_held
AND    CASE WHEN status = 'R' THEN true END
RETURNING message_id, id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch MessageID, 2: batch ID
UPDATE /* compositeq.Fail */ d_mm7
SET    status = 'E'
FROM   unnest($1::bigint[], $2::integer[]) AS job (message_id_held, id_held)
WHERE  message_id = message_id_held
AND    id = id_held
AND    CASE WHEN status = 'R' THEN true END
RETURNING message_id, id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch MessageID, 2: batch ID
UPDATE /* compositeq.Requeue */ d_mm7
SET    status = 'Q'
FROM   unnest($1::bigint[], $2::integer[]) AS job (message_id_held, id_held)
WHERE  message_id = message_id_held
AND    id = id_held
AND    CASE WHEN status = 'R' THEN true END
RETURNING message_id, id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* compositeq.Redrive */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm7
    WHERE  status = 'E'
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE d_mm7
SET    status = 'Q'
FROM   picked
WHERE  d_mm7.message_id = picked.message_id
AND    d_mm7.id = picked.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'S' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* compositeq.Purge */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm7
    WHERE  status = 'S'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM d_mm7
USING  picked
WHERE  d_mm7.message_id = picked.message_id
AND    d_mm7.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'E' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* compositeq.Purge */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm7
    WHERE  status = 'E'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM d_mm7
USING  picked
WHERE  d_mm7.message_id = picked.message_id
AND    d_mm7.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID, 4: new SendAttempts
INSERT /* compositeq.Enqueue */ INTO d_mm7
       (message_id, id, server_id, status, send_attempts)
VALUES ($1, $2, $3, 'Q', coalesce($4::integer, 0))
RETURNING message_id, id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch MessageID, 2: new_batch ID, 3: new_batch ServerID, 4: new_batch SendAttempts
INSERT /* compositeq.EnqueueMany */ INTO d_mm7
       (message_id, id, server_id, status, send_attempts)
SELECT message_id_new, id_new, server_id_new, 'Q', coalesce(send_attempts_new, 0)
FROM   unnest($1::bigint[], $2::integer[], $3::varchar[], $4::integer[]) WITH ORDINALITY AS job (message_id_new, id_new, server_id_new, send_attempts_new, job_order)
ORDER  BY job_order
RETURNING message_id, id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* compositeq.Stats */
       count(*) FILTER (WHERE status = 'Q') AS ready,
       count(*) FILTER (WHERE status = 'R') AS running,
       count(*) FILTER (WHERE status = 'S') AS done,
       count(*) FILTER (WHERE status = 'E') AS failed
FROM   d_mm7;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (message_id NULLS FIRST, id) WHERE status = 'Q'
SELECT /* compositeq.Backlog */
       count(*) AS ready
FROM   d_mm7
WHERE  status = 'Q';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (message_id NULLS FIRST, id) WHERE status = 'Q'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* compositeq.Peek */
       message_id, id, server_id, send_attempts
FROM   d_mm7
WHERE  status = 'Q'
ORDER  BY message_id NULLS FIRST, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* compositeq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* compositeq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('message_id', 'bigint'),
               ('id', 'integer'),
               ('server_id', 'varchar'),
               ('status', 'char'),
               ('send_attempts', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('d_mm7')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload.sql
-- verify: columns of d_mc7
-- locks: none
SELECT /* compositeq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('content', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('d_mc7')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* compositeq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* compositeq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('d_mm7_composite_ready', 'message_id nulls first, id', 'message_id nulls first, id', 'status=''q''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('d_mm7')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY d_mm7_composite_ready ON d_mm7 (message_id NULLS FIRST, id)
WHERE  status = 'Q';
