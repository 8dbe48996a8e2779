-- Package pickedq uses the table actions as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken.
--
-- The fence is at level token: every claim adds a row to claims and leaves its id in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its id.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes claims (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates actions_ready and actions_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       from=companion adds a row between finding jobs and marking them
--   lease_table  from=companion adds a row between finding jobs and marking them
--   hold         from=companion adds a row between finding jobs and marking them
--   partition    from=companion adds a row between finding jobs and marking them
--   returning    from=companion adds a row between finding jobs and marking them
--   block        from=companion adds a row between finding jobs and marking them
--   token        from=companion adds a row between finding jobs and marking them
--   lock_update  from=companion adds a row between finding jobs and marking them
--   advisory     from=companion adds a row between finding jobs and marking them
-- * guarded      the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken
--   pop          from=companion adds a row between finding jobs and marking them
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (priority, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pickedq.Claim */
       id
FROM   actions
WHERE  state = 'N'
ORDER  BY priority, id
LIMIT  $1;

-- sql/claim_batch.sql
-- claim: one row of claims for the rows that claim_pick.sql named; claim.sql then writes its id to them
-- locks: nothing that others wait for
-- index: none; it reads nothing
-- isolation: read committed
INSERT /* pickedq.Claim */ INTO claims
       (holder, kind, made_at)
VALUES ('w', (upper('web')), now() + interval '5 minutes')
RETURNING id;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_pick.sql named and nobody took since
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: token ClaimID, 2: batch ID
UPDATE /* pickedq.Claim */ actions
SET    state = 'A',
       claimed = now(),
       claim_id = $1
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN state = 'N' THEN true END
RETURNING id, hook, priority, claimed, claim_id;

-- sql/claim_batch_undo.sql
-- claim: deletes the row of claims again where others were quicker and claim.sql took none
-- locks: the row it deletes, until commit
-- index: the primary key of claims
-- isolation: read committed
-- arguments: 1: token ID
DELETE /* pickedq.Claim */ FROM claims
WHERE  id = $1;

-- sql/complete.sql
-- complete: running to done
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch ClaimID
UPDATE /* pickedq.Complete */ actions
SET    state = 'D'
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, claim_id_held)
WHERE  id = id_held
AND    CASE WHEN claim_id = claim_id_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch ClaimID
UPDATE /* pickedq.Fail */ actions
SET    state = 'E'
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, claim_id_held)
WHERE  id = id_held
AND    CASE WHEN claim_id = claim_id_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch ClaimID
UPDATE /* pickedq.Requeue */ actions
SET    state = 'N',
       claimed = NULL,
       claim_id = 0
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, claim_id_held)
WHERE  id = id_held
AND    CASE WHEN claim_id = claim_id_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: claim_id as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch ClaimID
UPDATE /* pickedq.Extend */ actions
SET    claimed = now()
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, claim_id_held)
WHERE  id = id_held
AND    CASE WHEN claim_id = claim_id_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (claimed) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* pickedq.Recover */ actions
SET    state = 'N',
       claimed = NULL,
       claim_id = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'A'
           AND    claimed <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* pickedq.Redrive */ actions
SET    state = 'N',
       claimed = NULL,
       claim_id = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (claimed) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* pickedq.Purge */ FROM actions
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'D'
           AND    claimed <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (claimed) WHERE state = 'E' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* pickedq.Purge */ FROM actions
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   actions
           WHERE  state = 'E'
           AND    claimed <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Hook, 2: new Priority
INSERT /* pickedq.Enqueue */ INTO actions
       (hook, priority)
VALUES ($1, coalesce($2::smallint, 10))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Hook, 2: new_batch Priority
INSERT /* pickedq.EnqueueMany */ INTO actions
       (hook, priority)
SELECT hook_new, coalesce(priority_new, 10)
FROM   unnest($1::text[], $2::smallint[]) WITH ORDINALITY AS job (hook_new, priority_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pickedq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'A' AND claimed <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(claimed) FILTER (WHERE state = 'A')) AS oldest_running
FROM   actions;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (priority, id) WHERE state = 'N'
SELECT /* pickedq.Backlog */
       count(*) AS ready
FROM   actions
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority, id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pickedq.Peek */
       id, hook, priority, claim_id
FROM   actions
WHERE  state = 'N'
ORDER  BY priority, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pickedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pickedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('hook', 'text'),
               ('state', 'char'),
               ('priority', 'smallint'),
               ('claimed', 'timestamptz'),
               ('claim_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('actions')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of claims
-- locks: none
SELECT /* pickedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('holder', 'varchar'),
               ('kind', 'text'),
               ('made_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('claims')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* pickedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pickedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('actions_ready', 'priority, id', 'priority, id', 'state=''n'''),
               ('actions_expired', 'claimed', 'claimed', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('actions')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
-- actionsq advises the same
CREATE INDEX CONCURRENTLY actions_ready ON actions (priority, id)
WHERE  state = 'N';

-- serves Recover: claims that ran out
-- actionsq advises the same
CREATE INDEX CONCURRENTLY actions_expired ON actions (claimed)
WHERE  state = 'A';
