-- Package stepsq uses the table steps as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a worker that dies leaves it as it leaves a running one.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates steps_ready.
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
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "id"
-- note: the count in column "tries" is set back by update, so it is no fence; qgen:token or a qgen:version that each claim raises is one
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=update changes the row that is like a new job in name (unique index steps_open, of rows where state <> 'done'): kind = {kind}, tries = 0
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job; where it has to run again, a unique index of rows that do not run (WHERE …) has Enqueue add another

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 3
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* stepsq.Claim */ steps
SET    state = 'taken',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    tries < 3
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, name, kind, tries;

-- sql/claim_1.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 3
-- isolation: read committed
-- arguments: 1: low
UPDATE /* stepsq.Claim */ steps
SET    state = 'taken',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    tries < 3
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, name, kind, tries;

-- sql/claim_100.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 3
-- isolation: read committed
-- arguments: 1: low
UPDATE /* stepsq.Claim */ steps
SET    state = 'taken',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    tries < 3
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, name, kind, tries;

-- sql/start.sql
-- start: claimed to running
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* stepsq.Start */ steps
SET    state = 'busy'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'taken' THEN true END
RETURNING id;

-- sql/complete.sql
-- complete: claimed or running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* stepsq.Complete */ steps
SET    state = 'done'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state IN ('taken', 'busy') THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* stepsq.Fail */ steps
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state IN ('taken', 'busy') THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: claimed or running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* stepsq.Fail */ steps
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state IN ('taken', 'busy') THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* stepsq.Requeue */ steps
SET    state = 'new',
       tries = tries - 1
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state IN ('taken', 'busy') THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* stepsq.Redrive */ steps
SET    tries = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    tries >= 3
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'done' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'done'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'new' AND tries >= 3 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* stepsq.Purge */ FROM steps
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    tries >= 3
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in name (unique index steps_open, of rows where state <> 'done')
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new Name, 2: new Kind
INSERT /* stepsq.Enqueue */ INTO steps
       (name, kind)
VALUES ($1, $2)
ON     CONFLICT (name)
       WHERE state <> 'done' DO UPDATE
SET    kind = excluded.kind,
       tries = 0
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(*) FILTER (WHERE state = 'new' AND tries < 3) AS ready,
       count(*) FILTER (WHERE state = 'taken') AS claimed,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'new' AND tries >= 3) AS failed
FROM   steps;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 3
SELECT /* stepsq.Backlog */
       count(*) AS ready
FROM   steps
WHERE  state = 'new'
AND    tries < 3;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new' AND tries < 3
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       id, name, kind, tries
FROM   steps
WHERE  state = 'new'
AND    tries < 3
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stepsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stepsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('name', 'text'),
               ('kind', 'text'),
               ('state', 'text'),
               ('tries', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('steps')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* stepsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stepsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('steps_ready', 'id nulls first', 'id nulls first', 'state=''new''andtries<3')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('steps')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY steps_ready ON steps (id NULLS FIRST)
WHERE  state = 'new'
AND    tries < 3;
