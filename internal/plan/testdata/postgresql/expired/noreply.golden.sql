-- Package noreplyq uses the table noreply as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates noreply_ready and noreply_expired.
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
-- note: on recover, column "state" gets 5 as qgen:on says, not 2 as qgen:status would
-- note: on recover, column "outcome" gets 4 as qgen:on says, not 0 as qgen:status would
-- note: warning: Recover makes a job failed and not ready, since qgen:on recover writes column "state"; expired=fail at column "until" says that a job fails whose claim has run out, and qgen:on giveup what else is written then
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 2 AND outcome = 0
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* noreplyq.Claim */ noreply
SET    state = 4,
       until = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   noreply
           WHERE  state = 2
           AND    outcome = 0
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, until;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 2 AND outcome = 0
-- isolation: read committed
-- arguments: 1: low
UPDATE /* noreplyq.Claim */ noreply
SET    state = 4,
       until = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   noreply
           WHERE  state = 2
           AND    outcome = 0
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, until;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 2 AND outcome = 0
-- isolation: read committed
-- arguments: 1: low
UPDATE /* noreplyq.Claim */ noreply
SET    state = 4,
       until = now() + interval '5 minutes'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   noreply
           WHERE  state = 2
           AND    outcome = 0
           AND    id > $1
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, until;

-- sql/complete.sql
-- complete: running to done
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
UPDATE /* noreplyq.Complete */ noreply
SET    state = 5,
       outcome = 1,
       until = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    state = 4
            AND    outcome = 0 THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
UPDATE /* noreplyq.Fail */ noreply
SET    state = 5,
       outcome = 3,
       until = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    state = 4
            AND    outcome = 0 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
UPDATE /* noreplyq.Requeue */ noreply
SET    state = 2,
       until = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    state = 4
            AND    outcome = 0 THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Until
UPDATE /* noreplyq.Extend */ noreply
SET    until = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, until_held)
WHERE  id = id_held
AND    CASE WHEN until = until_held
            AND    state = 4
            AND    outcome = 0 THEN true END
RETURNING id, until;

-- sql/recover.sql
-- recover: running with an expired claim to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (until) WHERE state = 4 AND outcome = 0
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* noreplyq.Recover */ noreply
SET    state = 5,
       outcome = 4,
       until = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   noreply
           WHERE  state = 4
           AND    outcome = 0
           AND    until <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* noreplyq.Redrive */ noreply
SET    state = 2,
       outcome = 0,
       until = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   noreply
           WHERE  state = 5
           AND    outcome IN (3, 4)
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 5 AND outcome = 1 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* noreplyq.Purge */ FROM noreply
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   noreply
           WHERE  state = 5
           AND    outcome = 1
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 5 AND outcome IN (3, 4) would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* noreplyq.Purge */ FROM noreply
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   noreply
           WHERE  state = 5
           AND    outcome IN (3, 4)
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* noreplyq.Enqueue */ INTO noreply
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* noreplyq.Stats */
       count(*) FILTER (WHERE state = 2 AND outcome = 0) AS ready,
       count(*) FILTER (WHERE state = 4 AND outcome = 0) AS running,
       count(*) FILTER (WHERE state = 5 AND outcome = 1) AS done,
       count(*) FILTER (WHERE state = 5 AND outcome IN (3, 4)) AS failed,
       count(*) FILTER (WHERE state = 4 AND outcome = 0 AND until <= now()) AS expired
FROM   noreply;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 2 AND outcome = 0
SELECT /* noreplyq.Backlog */
       count(*) AS ready
FROM   noreply
WHERE  state = 2
AND    outcome = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 2 AND outcome = 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* noreplyq.Peek */
       id
FROM   noreply
WHERE  state = 2
AND    outcome = 0
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* noreplyq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* noreplyq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'integer'),
               ('outcome', 'integer'),
               ('until', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('noreply')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* noreplyq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* noreplyq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('noreply_ready', 'id nulls first', 'id nulls first', 'state=2andoutcome=0'),
               ('noreply_expired', 'until', 'until', 'state=4andoutcome=0')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('noreply')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY noreply_ready ON noreply (id NULLS FIRST)
WHERE  state = 2
AND    outcome = 0;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY noreply_expired ON noreply (until)
WHERE  state = 4
AND    outcome = 0;
