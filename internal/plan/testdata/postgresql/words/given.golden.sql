-- Package givenq uses the table given as a queue of jobs on PostgreSQL 14 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Partial---------> ready
-- 	running  --NotWanted-------> failed
-- 	running  --Skipped---------> done
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue and Partial take the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates given_ready and given_expired.
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
-- note: column "code" stays as it is when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "id"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue, the outcome partial and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: given host *string, 2: low, 3: limit
UPDATE /* givenq.Claim */ given
SET    state = 'A',
       till = now() + interval '5 minutes',
       tries = tries + 1,
       host = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: given host *string, 2: low
UPDATE /* givenq.Claim */ given
SET    state = 'A',
       till = now() + interval '5 minutes',
       tries = tries + 1,
       host = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, tries;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: given host *string, 2: low
UPDATE /* givenq.Claim */ given
SET    state = 'A',
       till = now() + interval '5 minutes',
       tries = tries + 1,
       host = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'N'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, till, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Answer, 4: batch Response
UPDATE /* givenq.Complete */ given
SET    state = 'D',
       till = NULL,
       answer = answer_held,
       response = response_held
FROM   unnest($1::bigint[], $2::integer[], $3::text[], $4::integer[]) AS job (id_held, tries_held, answer_held, response_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: given code *int32, 2: batch ID, 3: batch Tries
UPDATE /* givenq.Fail */ given
SET    state = 'N',
       till = NULL,
       code = $1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: given code *int32, 2: batch ID, 3: batch Tries
UPDATE /* givenq.Fail */ given
SET    state = 'E',
       till = NULL,
       code = $1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: given code *int32, 2: batch ID, 3: batch Tries
UPDATE /* givenq.Requeue */ given
SET    state = 'N',
       till = NULL,
       tries = tries - 1,
       code = $1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* givenq.Extend */ given
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id, till;

-- sql/outcome_partial.sql
-- outcome_partial: running to ready
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* givenq.Partial */ given
SET    state = 'N',
       till = NULL,
       tries = tries - 1,
       answer = 'in part',
       code = 7
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/outcome_not_wanted.sql
-- outcome_not_wanted: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: given why *int32, 2: batch ID, 3: batch Tries
UPDATE /* givenq.NotWanted */ given
SET    state = 'E',
       till = NULL,
       code = $1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/outcome_skipped.sql
-- outcome_skipped: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* givenq.Skipped */ given
SET    state = 'D',
       till = NULL
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: given sweeper *string, 2: limit
UPDATE /* givenq.Recover */ given
SET    state = 'N',
       till = NULL,
       who = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'A'
           AND    tries < 3
           AND    till <= now()
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: given sweeper *string, 2: limit
UPDATE /* givenq.Recover */ given
SET    state = 'E',
       till = NULL,
       who = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'A'
           AND    tries >= 3
           AND    till <= now()
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* givenq.Redrive */ given
SET    state = 'N',
       till = NULL,
       tries = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'E'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* givenq.Purge */ FROM given
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'D'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'E' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* givenq.Purge */ FROM given
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   given
           WHERE  state = 'E'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* givenq.Enqueue */ INTO given
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* givenq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'A' AND till <= now()) AS expired
FROM   given;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
SELECT /* givenq.Backlog */
       count(*) AS ready
FROM   given
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* givenq.Peek */
       id, tries
FROM   given
WHERE  state = 'N'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* givenq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* givenq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'char'),
               ('till', 'timestamptz'),
               ('tries', 'integer'),
               ('answer', 'text'),
               ('response', 'integer'),
               ('code', 'integer'),
               ('host', 'text'),
               ('who', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('given')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* givenq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* givenq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('given_ready', 'id nulls first', 'id nulls first', 'state=''n'''),
               ('given_expired', 'till', 'till', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('given')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY given_ready ON given (id NULLS FIRST)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY given_expired ON given (till)
WHERE  state = 'A';
