-- Package composite10q uses the table warehouse.part_moves as a queue of jobs on PostgreSQL 10 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates part_moves_composite10_ready.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: ("Order" DESC, tenant, move_no) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
WITH /* composite10q.Claim */ picked AS (
    SELECT tenant, move_no
    FROM   warehouse.part_moves
    WHERE  state = 'new'
    ORDER  BY "Order" DESC, tenant, move_no
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE warehouse.part_moves
SET    state = 'busy',
       version = part_moves.version + 1
FROM   picked
WHERE  part_moves.tenant = picked.tenant
AND    part_moves.move_no = picked.move_no
RETURNING part_moves.tenant, part_moves.move_no, part_moves."Order", part_moves.version,
          part_moves.payload;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: ("Order" DESC, tenant, move_no) WHERE state = 'new'
-- isolation: read committed
WITH /* composite10q.Claim */ picked AS (
    SELECT tenant, move_no
    FROM   warehouse.part_moves
    WHERE  state = 'new'
    ORDER  BY "Order" DESC, tenant, move_no
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE warehouse.part_moves
SET    state = 'busy',
       version = part_moves.version + 1
FROM   picked
WHERE  part_moves.tenant = picked.tenant
AND    part_moves.move_no = picked.move_no
RETURNING part_moves.tenant, part_moves.move_no, part_moves."Order", part_moves.version,
          part_moves.payload;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: ("Order" DESC, tenant, move_no) WHERE state = 'new'
-- isolation: read committed
WITH /* composite10q.Claim */ picked AS (
    SELECT tenant, move_no
    FROM   warehouse.part_moves
    WHERE  state = 'new'
    ORDER  BY "Order" DESC, tenant, move_no
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE warehouse.part_moves
SET    state = 'busy',
       version = part_moves.version + 1
FROM   picked
WHERE  part_moves.tenant = picked.tenant
AND    part_moves.move_no = picked.move_no
RETURNING part_moves.tenant, part_moves.move_no, part_moves."Order", part_moves.version,
          part_moves.payload;

-- sql/complete.sql
-- complete: running to done
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch MoveNo, 3: batch Version, 4: batch Outcome
UPDATE /* composite10q.Complete */ warehouse.part_moves
SET    state = 'ok',
       version = version + 1,
       outcome = outcome_held
FROM   unnest($1::uuid[], $2::integer[], $3::integer[], $4::jsonb[]) AS job (tenant_held, move_no_held, version_held, outcome_held)
WHERE  tenant = tenant_held
AND    move_no = move_no_held
AND    CASE WHEN version = version_held
            AND    state = 'busy' THEN true END
RETURNING tenant, move_no;

-- sql/fail.sql
-- fail: running to failed
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch MoveNo, 3: batch Version
UPDATE /* composite10q.Fail */ warehouse.part_moves
SET    state = 'bad',
       version = version + 1
FROM   unnest($1::uuid[], $2::integer[], $3::integer[]) AS job (tenant_held, move_no_held, version_held)
WHERE  tenant = tenant_held
AND    move_no = move_no_held
AND    CASE WHEN version = version_held
            AND    state = 'busy' THEN true END
RETURNING tenant, move_no;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch MoveNo, 3: batch Version
UPDATE /* composite10q.Requeue */ warehouse.part_moves
SET    state = 'new',
       version = version + 1
FROM   unnest($1::uuid[], $2::integer[], $3::integer[]) AS job (tenant_held, move_no_held, version_held)
WHERE  tenant = tenant_held
AND    move_no = move_no_held
AND    CASE WHEN version = version_held
            AND    state = 'busy' THEN true END
RETURNING tenant, move_no;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* composite10q.Redrive */ picked AS (
    SELECT tenant, move_no
    FROM   warehouse.part_moves
    WHERE  state = 'bad'
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE warehouse.part_moves
SET    state = 'new',
       version = part_moves.version + 1
FROM   picked
WHERE  part_moves.tenant = picked.tenant
AND    part_moves.move_no = picked.move_no;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (tenant, move_no) WHERE state = 'ok' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* composite10q.Purge */ picked AS (
    SELECT tenant, move_no
    FROM   warehouse.part_moves
    WHERE  state = 'ok'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM warehouse.part_moves
USING  picked
WHERE  part_moves.tenant = picked.tenant
AND    part_moves.move_no = picked.move_no;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (tenant, move_no) WHERE state = 'bad' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* composite10q.Purge */ picked AS (
    SELECT tenant, move_no
    FROM   warehouse.part_moves
    WHERE  state = 'bad'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM warehouse.part_moves
USING  picked
WHERE  part_moves.tenant = picked.tenant
AND    part_moves.move_no = picked.move_no;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Tenant, 2: new MoveNo, 3: new Order, 4: new Payload
INSERT /* composite10q.Enqueue */ INTO warehouse.part_moves
       (tenant, move_no, "Order", payload)
VALUES ($1, $2, coalesce($3::smallint, 0), $4)
RETURNING tenant, move_no;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Tenant, 2: new_batch MoveNo, 3: new_batch Order, 4: new_batch Payload
INSERT /* composite10q.EnqueueMany */ INTO warehouse.part_moves
       (tenant, move_no, "Order", payload)
SELECT tenant_new, move_no_new, coalesce("Order_new", 0), payload_new
FROM   unnest($1::uuid[], $2::integer[], $3::smallint[], $4::bytea[]) WITH ORDINALITY AS job (tenant_new, move_no_new, "Order_new", payload_new, job_order)
ORDER  BY job_order
RETURNING tenant, move_no;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* composite10q.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'ok') AS done,
       count(*) FILTER (WHERE state = 'bad') AS failed
FROM   warehouse.part_moves;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: ("Order" DESC, tenant, move_no) WHERE state = 'new'
SELECT /* composite10q.Backlog */
       count(*) AS ready
FROM   warehouse.part_moves
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: ("Order" DESC, tenant, move_no) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* composite10q.Peek */
       tenant, move_no, "Order", version, payload
FROM   warehouse.part_moves
WHERE  state = 'new'
ORDER  BY "Order" DESC, tenant, move_no
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* composite10q.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 10'
WHERE  current_setting('server_version_num')::int < 100000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* composite10q.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('tenant', 'uuid'),
               ('move_no', 'integer'),
               ('Order', 'smallint'),
               ('state', 'text'),
               ('version', 'integer'),
               ('outcome', 'jsonb'),
               ('payload', 'bytea')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('warehouse.part_moves')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* composite10q.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* composite10q.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('part_moves_composite10_ready', 'order desc, tenant, move_no', 'order desc, tenant, move_no', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('warehouse.part_moves')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY part_moves_composite10_ready ON warehouse.part_moves ("Order" DESC, tenant, move_no)
WHERE  state = 'new';
