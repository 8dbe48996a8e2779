-- Package sendsq uses the table sends as a queue of jobs on PostgreSQL 9.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy advisory: locks on numbers keep claimers apart without waiting.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes and a number for each until it commits, and passes over numbers that others hold. A worker that dies leaves its jobs running until Recover, which goes by the workers that are alive, makes them ready again.
--
-- Besides the queue's own rows it writes fired (Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates sends_ready and sends_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    PostgreSQL 9.4 cannot pass over locked rows
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  PostgreSQL 9.4 cannot pass over locked rows
-- * advisory     locks on numbers keep claimers apart without waiting
--   guarded      not needed: advisory comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, and a number for each, until commit; passes over numbers that are locked
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: worker Who, 2: limit
UPDATE /* sendsq.Claim */ sends
SET    state = 1,
       who = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   (
               SELECT id
               FROM   sends
               WHERE  state = 0
               ORDER  BY id NULLS FIRST
               LIMIT  $2 * 4
           ) AS candidate
           WHERE  pg_try_advisory_xact_lock('sends'::regclass::oid::int, hashtext(id::text))
           LIMIT  $2))
AND    state = 0
RETURNING id, who;

-- sql/complete.sql
-- complete: running to done
-- fence: who as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Who
UPDATE /* sendsq.Complete */ sends
SET    state = 2
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, who_held)
WHERE  id = id_held
AND    CASE WHEN who = who_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: who as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Who
UPDATE /* sendsq.Fail */ sends
SET    state = 0,
       who = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, who_held)
WHERE  id = id_held
AND    CASE WHEN who = who_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: who as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Who
UPDATE /* sendsq.Requeue */ sends
SET    state = 0,
       who = NULL
FROM   unnest($1::bigint[], $2::varchar[]) AS job (id_held, who_held)
WHERE  id = id_held
AND    CASE WHEN who = who_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (who) WHERE state = 1
-- isolation: read committed
-- arguments: 1: param alive []string, 2: limit
SELECT /* sendsq.Recover */
       id
FROM   sends
WHERE  state = 1
AND    (who IS NOT NULL AND who <> ALL ($1::varchar[]))
LIMIT  $2
FOR    NO KEY UPDATE;

-- sql/recover_delete_fired.sql
-- recover: deletes rows from fired for the rows that recover_lock.sql locked, before recover.sql
-- locks: the rows it writes, until commit
-- index: the key; of fired one that begins with outbox_id
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* sendsq.Recover */ FROM fired
USING  sends AS held
WHERE  held.id = ANY ($1::bigint[])
AND    fired.outbox_id = held.id;

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* sendsq.Recover */ sends
SET    state = 0,
       who = NULL
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 1 THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 2 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* sendsq.Purge */ FROM sends
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   sends
           WHERE  state = 2
           LIMIT  $1
           FOR    UPDATE));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* sendsq.Enqueue */ INTO sends
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sendsq.Stats */
       count(*) FILTER (WHERE state = 0) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done
FROM   sends;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 0
SELECT /* sendsq.Backlog */
       count(*) AS ready
FROM   sends
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* sendsq.Peek */
       id
FROM   sends
WHERE  state = 0
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sendsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 9.4'
WHERE  current_setting('server_version_num')::int < 90400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* sendsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'integer'),
               ('who', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('sends')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of fired
-- locks: none
SELECT /* sendsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('outbox_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('fired')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* sendsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sendsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('sends_ready', 'id nulls first', 'id nulls first', 'state=0'),
               ('sends_expired', 'who', 'who', 'state=1')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('sends')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY sends_ready ON sends (id NULLS FIRST)
WHERE  state = 0;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY sends_expired ON sends (who)
WHERE  state = 1;
