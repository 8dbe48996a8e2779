-- Package mirthq uses the table d_mm{{.Channel}} as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates d_mm{{.Channel}}_mirth_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: tries have no limit, so Fail always puts the job back (max= or a column of limits at qgen:attempts, or an outcome to failed)
-- note: no order is said: rows are taken in the order of the key, message_id, id

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (server_id, message_id NULLS FIRST, id) WHERE status = 'Q'
-- isolation: read committed
-- arguments: 1: param serverID string, 2: held MessageID, 3: held ID, 4: limit
SELECT /* mirthq.Claim */
       message_id, id, server_id, send_attempts
FROM   d_mm{{.Channel}}
WHERE  status = 'Q'
AND    server_id = $1
AND    (message_id, id) NOT IN (SELECT message_id_held, id_held FROM unnest($2::bigint[], $3::integer[]) AS job (message_id_held, id_held))
ORDER  BY message_id NULLS FIRST, id
LIMIT  $4
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/payload.sql
-- payload: what claimed jobs have in d_mc{{.Channel}}
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch MessageID, 2: batch ID
SELECT /* mirthq.Payload */
       queue_row.message_id, queue_row.id, c.content
FROM   unnest($1::bigint[], $2::integer[]) AS job (message_id_held, id_held)
       JOIN d_mm{{.Channel}} queue_row
       ON  queue_row.message_id = message_id_held
       AND queue_row.id = id_held
       LEFT JOIN d_mc{{.Channel}} c
       ON  (c.message_id = queue_row.message_id and c.metadata_id = queue_row.id and c.content_type = 4);

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch MessageID, 2: batch ID
UPDATE /* mirthq.Complete */ d_mm{{.Channel}}
SET    status = 'S'
FROM   unnest($1::bigint[], $2::integer[]) AS job (message_id_held, id_held)
WHERE  message_id = message_id_held
AND    id = id_held
AND    CASE WHEN status = 'Q' THEN true END
RETURNING message_id, id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch MessageID, 2: batch ID
UPDATE /* mirthq.Fail */ d_mm{{.Channel}}
SET    send_attempts = send_attempts + 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (message_id_held, id_held)
WHERE  message_id = message_id_held
AND    id = id_held
AND    CASE WHEN status = 'Q' THEN true END
RETURNING message_id, id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* mirthq.Redrive */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm{{.Channel}}
    WHERE  status = 'E'
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE d_mm{{.Channel}}
SET    status = 'Q',
       send_attempts = 0
FROM   picked
WHERE  d_mm{{.Channel}}.message_id = picked.message_id
AND    d_mm{{.Channel}}.id = picked.id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'S' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* mirthq.Purge */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm{{.Channel}}
    WHERE  status = 'S'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM d_mm{{.Channel}}
USING  picked
WHERE  d_mm{{.Channel}}.message_id = picked.message_id
AND    d_mm{{.Channel}}.id = picked.id;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (message_id, id) WHERE status = 'E' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* mirthq.Purge */ picked AS MATERIALIZED (
    SELECT message_id, id
    FROM   d_mm{{.Channel}}
    WHERE  status = 'E'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM d_mm{{.Channel}}
USING  picked
WHERE  d_mm{{.Channel}}.message_id = picked.message_id
AND    d_mm{{.Channel}}.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID
INSERT /* mirthq.Enqueue */ INTO d_mm{{.Channel}}
       (message_id, id, server_id, status)
VALUES ($1, $2, $3, 'Q')
RETURNING message_id, id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch MessageID, 2: new_batch ID, 3: new_batch ServerID
INSERT /* mirthq.EnqueueMany */ INTO d_mm{{.Channel}}
       (message_id, id, server_id, status)
SELECT message_id_new, id_new, server_id_new, 'Q'
FROM   unnest($1::bigint[], $2::integer[], $3::varchar[]) WITH ORDINALITY AS job (message_id_new, id_new, server_id_new, job_order)
ORDER  BY job_order
RETURNING message_id, id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mirthq.Stats */
       count(*) FILTER (WHERE status = 'Q') AS ready,
       count(*) FILTER (WHERE status = 'S') AS done,
       count(*) FILTER (WHERE status = 'E') AS failed
FROM   d_mm{{.Channel}};

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same server_id is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param serverID string
SELECT /* mirthq.StatsOf */
       count(*) FILTER (WHERE status = 'Q') AS ready,
       count(*) FILTER (WHERE status = 'S') AS done,
       count(*) FILTER (WHERE status = 'E') AS failed
FROM   d_mm{{.Channel}}
WHERE  server_id = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by server_id
-- locks: none
-- index: (server_id, message_id NULLS FIRST, id) WHERE status = 'Q'
SELECT /* mirthq.Backlog */
       server_id,
       count(*) AS ready
FROM   d_mm{{.Channel}}
WHERE  status = 'Q'
GROUP  BY server_id
ORDER  BY server_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (server_id, message_id NULLS FIRST, id) WHERE status = 'Q'
-- isolation: read committed
-- arguments: 1: param serverID string, 2: limit
SELECT /* mirthq.Peek */
       message_id, id, server_id, send_attempts
FROM   d_mm{{.Channel}}
WHERE  status = 'Q'
AND    server_id = $1
ORDER  BY message_id NULLS FIRST, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mirthq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mirthq.Verify */
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
       ON  have.attrelid = to_regclass('d_mm{{.Channel}}')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload.sql
-- verify: columns of d_mc{{.Channel}}
-- locks: none
SELECT /* mirthq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('content', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('d_mc{{.Channel}}')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* mirthq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mirthq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('d_mm{{.Channel}}_mirth_ready', 'server_id, message_id nulls first, id', 'server_id, message_id nulls first, id', 'status=''q''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('d_mm{{.Channel}}')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY d_mm{{.Channel}}_mirth_ready ON d_mm{{.Channel}} (server_id, message_id NULLS FIRST, id)
WHERE  status = 'Q';
