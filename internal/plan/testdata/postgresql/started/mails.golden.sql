-- Package mailsq uses the table mails as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
-- 	running  --Recover---------> failed, when the program starts and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and Recover takes it as it takes a running one.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until the program starts again; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Node, 2: low, 3: limit
UPDATE /* mailsq.Claim */ mails
SET    state = 'C',
       node = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, tries, node;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Node, 2: low
UPDATE /* mailsq.Claim */ mails
SET    state = 'C',
       node = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, tries, node;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Node, 2: low
UPDATE /* mailsq.Claim */ mails
SET    state = 'C',
       node = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, tries, node;

-- sql/start.sql
-- start: claimed to running
-- fence: node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Node
UPDATE /* mailsq.Start */ mails
SET    state = 'A'
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, node_held)
WHERE  id = id_held
AND    CASE WHEN node = node_held
            AND    state = 'C' THEN true END
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Node
UPDATE /* mailsq.Complete */ mails
SET    state = 'D'
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, node_held)
WHERE  id = id_held
AND    CASE WHEN node = node_held
            AND    state IN ('C', 'A') THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Node
UPDATE /* mailsq.Fail */ mails
SET    state = 'N',
       tries = tries + 1,
       node = NULL
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, node_held)
WHERE  id = id_held
AND    CASE WHEN node = node_held
            AND    state IN ('C', 'A') THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Node
UPDATE /* mailsq.Fail */ mails
SET    state = 'F',
       tries = tries + 1
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, node_held)
WHERE  id = id_held
AND    CASE WHEN node = node_held
            AND    state IN ('C', 'A') THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: node as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Node
UPDATE /* mailsq.Requeue */ mails
SET    state = 'N',
       node = NULL
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, node_held)
WHERE  id = id_held
AND    CASE WHEN node = node_held
            AND    state IN ('C', 'A') THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: claimed or running to ready, when the program starts
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 'N',
       tries = tries + 1,
       node = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state IN ('C', 'A')
           AND    tries < 1
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: claimed or running with no tries left to failed, when the program starts
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 'F',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state IN ('C', 'A')
           AND    tries >= 1
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Redrive */ mails
SET    state = 'N',
       tries = 0,
       node = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 'F'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 'D'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'F' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 'F'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* mailsq.Enqueue */ INTO mails
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'C') AS claimed,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'F') AS failed
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
SELECT /* mailsq.Backlog */
       count(*) AS ready
FROM   mails
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, tries
FROM   mails
WHERE  state = 'N'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('tries', 'integer'),
               ('node', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mails')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* mailsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('mails_ready', 'id nulls first', 'id nulls first', 'state=''n''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('mails')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY mails_ready ON mails (id NULLS FIRST)
WHERE  state = 'N';
