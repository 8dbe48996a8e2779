-- Package filesq uses the table files as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy partition: no running state and a shard column: every worker reads its own share.
--
-- Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker.
--
-- It takes no locks. A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  no side table is asked for
--   hold         the table has no running state but a shard column, which keeps workers apart
-- * partition    no running state and a shard column: every worker reads its own share
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, id

-- sql/claim.sql
-- claim: the ready rows of one shard; nothing is written
-- locks: none; the shard keeps workers apart
-- index: files_open (id) WHERE NOT processed
-- isolation: read committed
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* filesq.Claim */
       id, hash_code, path
FROM   files
WHERE  processed = false
AND    mod(mod(coalesce(hash_code, 0), $1) + $1, $1) = $2
ORDER  BY id
LIMIT  $3;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* filesq.Complete */ files
SET    processed = true
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN processed = false THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE processed = true would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* filesq.Purge */ FROM files
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   files
           WHERE  processed = true
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new HashCode, 3: new Path
INSERT /* filesq.Enqueue */ INTO files
       (id, hash_code, path)
VALUES ($1, $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch HashCode, 3: new_batch Path
INSERT /* filesq.EnqueueMany */ INTO files
       (id, hash_code, path)
SELECT id_new, hash_code_new, path_new
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) WITH ORDINALITY AS job (id_new, hash_code_new, path_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(*) FILTER (WHERE processed = false) AS ready,
       count(*) FILTER (WHERE processed = true) AS done
FROM   files;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: files_open (id) WHERE NOT processed
SELECT /* filesq.Backlog */
       count(*) AS ready
FROM   files
WHERE  processed = false;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: files_open (id) WHERE NOT processed
-- isolation: read committed
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* filesq.Peek */
       id, hash_code, path
FROM   files
WHERE  processed = false
AND    mod(mod(coalesce(hash_code, 0), $1) + $1, $1) = $2
ORDER  BY id
LIMIT  $3;

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
               ('processed', 'boolean'),
               ('hash_code', 'integer'),
               ('path', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

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
FROM   (VALUES ('files_open', 'id', 'id', 'notprocessed')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: files_open serves already
