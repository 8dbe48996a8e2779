-- Package tokenq uses the table log_lines as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates log_lines_token_ready and log_lines_token_token.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        rows have no key, so that each has a token of its own, which cannot be the key of a batch
--   lock_update  rows have no key by which a locked row could be written
--   advisory     not needed: returning comes first
--   guarded      rows have no key by which a candidate could be taken
--   pop          a taken row is gone, so it must be asked for
-- note: there is no primary key and no unique key without nulls, so a row is named by its physical place, which is good inside one transaction only
-- note: rows that are equal in at are taken in any order: the table has no key
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: the table has no key: every claim leaves a fresh value in each row, which names it from then on
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (at) WHERE holder IS NULL
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* tokenq.Claim */ log_lines
SET    holder = gen_random_uuid()
WHERE  ctid = ANY (ARRAY(
           SELECT ctid
           FROM   log_lines
           WHERE  holder IS NULL
           ORDER  BY at
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING at, line, holder;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (at) WHERE holder IS NULL
-- isolation: read committed
UPDATE /* tokenq.Claim */ log_lines
SET    holder = gen_random_uuid()
WHERE  ctid = ANY (ARRAY(
           SELECT ctid
           FROM   log_lines
           WHERE  holder IS NULL
           ORDER  BY at
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING at, line, holder;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (at) WHERE holder IS NULL
-- isolation: read committed
UPDATE /* tokenq.Claim */ log_lines
SET    holder = gen_random_uuid()
WHERE  ctid = ANY (ARRAY(
           SELECT ctid
           FROM   log_lines
           WHERE  holder IS NULL
           ORDER  BY at
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING at, line, holder;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Holder
DELETE /* tokenq.Complete */ FROM log_lines
WHERE  holder = ANY ($1::uuid[])
AND    CASE WHEN holder IS NOT NULL THEN true END
RETURNING holder;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Holder
DELETE /* tokenq.Fail */ FROM log_lines
WHERE  holder = ANY ($1::uuid[])
AND    CASE WHEN holder IS NOT NULL THEN true END
RETURNING holder;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Holder
UPDATE /* tokenq.Requeue */ log_lines
SET    holder = NULL
FROM   unnest($1::uuid[]) AS job (holder_held)
WHERE  holder = ANY ($1::uuid[])
AND    holder = holder_held
AND    CASE WHEN holder IS NOT NULL THEN true END
RETURNING holder_held;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new At, 2: new Line
INSERT /* tokenq.Enqueue */ INTO log_lines
       (at, line)
VALUES (coalesce($1::timestamptz, now()), $2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch At, 2: new_batch Line
INSERT /* tokenq.EnqueueMany */ INTO log_lines
       (at, line)
SELECT coalesce(at_new, now()), line_new
FROM   unnest($1::timestamptz[], $2::text[]) WITH ORDINALITY AS job (at_new, line_new, job_order)
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tokenq.Stats */
       count(*) FILTER (WHERE holder IS NULL) AS ready,
       count(*) FILTER (WHERE holder IS NOT NULL) AS running
FROM   log_lines;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at) WHERE holder IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* tokenq.Peek */
       at, line
FROM   log_lines
WHERE  holder IS NULL
ORDER  BY at
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tokenq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tokenq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('at', 'timestamptz'),
               ('line', 'text'),
               ('holder', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('log_lines')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* tokenq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tokenq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('log_lines_token_ready', 'at', 'at', 'holderisnull'),
               ('log_lines_token_token', 'holder', 'holder', 'holderisnotnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('log_lines')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY log_lines_token_ready ON log_lines (at)
WHERE  holder IS NULL;

-- serves Complete and the like: the token is what names a claimed row
CREATE INDEX CONCURRENTLY log_lines_token_token ON log_lines (holder)
WHERE  holder IS NOT NULL;
