-- Package partsq uses the table parts as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
--
-- Jobs are claimed by the strategy partition: strategy=partition is asked for.
--
-- Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker.
--
-- It takes no locks. A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard.
--
-- Beside the old program of legacy_claim a job may be done twice. After a claim: a claim writes nothing and locks nothing (strategy partition), so what the old program asks for stays true. Let claims write the row: a status with running=, without strategy=partition. Or give the old program a shard that no other worker has.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parts_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=partition is asked for
--   lease_table  strategy=partition is asked for
--   hold         strategy=partition is asked for
-- * partition    strategy=partition is asked for
--   returning    strategy=partition is asked for
--   block        strategy=partition is asked for
--   token        strategy=partition is asked for
--   lock_update  strategy=partition is asked for
--   advisory     strategy=partition is asked for
--   guarded      strategy=partition is asked for
--   pop          strategy=partition is asked for
-- note: rows are taken as they came, by column "id"
-- old program: exclude each other: no
-- old program: after a claim: no: a claim writes nothing and locks nothing (strategy partition), so what the old program asks for stays true
-- old program: after the old one: yes: it deletes the row
-- old program: rows of the old one: are gone
-- old program: rows of a claim: look free to it: they stay as they were
-- old program: what to do: Let claims write the row: a status with running=, without strategy=partition. Or give the old program a shard that no other worker has.

-- sql/claim.sql
-- claim: the ready rows of one shard; nothing is written
-- locks: none; the shard keeps workers apart
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* partsq.Claim */
       id, slot, body
FROM   parts
WHERE  state = 'new'
AND    mod(mod(coalesce(slot, 0), $1) + $1, $1) = $2
ORDER  BY id NULLS FIRST
LIMIT  $3;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* partsq.Complete */ FROM parts
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'new' THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Slot, 2: new Body
INSERT /* partsq.Enqueue */ INTO parts
       (slot, body)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Slot, 2: new_batch Body
INSERT /* partsq.EnqueueMany */ INTO parts
       (slot, body)
SELECT slot_new, body_new
FROM   unnest($1::integer[], $2::text[]) WITH ORDINALITY AS job (slot_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* partsq.Stats */
       count(*) AS ready
FROM   parts
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* partsq.Peek */
       id, slot, body
FROM   parts
WHERE  state = 'new'
AND    mod(mod(coalesce(slot, 0), $1) + $1, $1) = $2
ORDER  BY id NULLS FIRST
LIMIT  $3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* partsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('slot', 'integer'),
               ('state', 'text'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('parts')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* partsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* partsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('parts_ready', 'id nulls first', 'id nulls first', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('parts')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY parts_ready ON parts (id NULLS FIRST)
WHERE  state = 'new';
