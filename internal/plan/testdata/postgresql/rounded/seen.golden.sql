-- Package seenq uses the table seen as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> (deleted), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates seen_expired.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "until"
-- note: a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)
-- note: rows are taken as they came, by column "id"; order 1 at column "until" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "tries" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: low, 2: limit
UPDATE /* seenq.Claim */ seen
SET    until = now() + interval '5 minutes',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   seen
           WHERE  until <= now()
           AND    tries < 3
           AND    id > $1
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, until, tries;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: low
UPDATE /* seenq.Claim */ seen
SET    until = now() + interval '5 minutes',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   seen
           WHERE  until <= now()
           AND    tries < 3
           AND    id > $1
           ORDER  BY id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, until, tries;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: low
UPDATE /* seenq.Claim */ seen
SET    until = now() + interval '5 minutes',
       tries = tries + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   seen
           WHERE  until <= now()
           AND    tries < 3
           AND    id > $1
           ORDER  BY id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, until, tries;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
DELETE /* seenq.Complete */ FROM seen
USING  unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Tries
UPDATE /* seenq.Fail */ seen
SET    until = now() + make_interval(secs => $1)
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
DELETE /* seenq.Fail */ FROM seen
USING  unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Tries
UPDATE /* seenq.Requeue */ seen
SET    until = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE date_trunc('second', now()) END,
       tries = tries - 1
FROM   unnest($2::bigint[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* seenq.Extend */ seen
SET    until = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held THEN true END
RETURNING id, until;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (until)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* seenq.Recover */ FROM seen
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   seen
           WHERE  tries >= 3
           AND    until <= now()
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Until
INSERT /* seenq.Enqueue */ INTO seen
       (until)
VALUES (coalesce($1::timestamptz, date_trunc('second', now())))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Until
INSERT /* seenq.EnqueueMany */ INTO seen
       (until)
SELECT coalesce(until_new, date_trunc('second', now()))
FROM   unnest($1::timestamptz[]) WITH ORDINALITY AS job (until_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* seenq.Stats */
       count(*) FILTER (WHERE until <= now() AND tries < 3) AS ready,
       count(*) FILTER (WHERE until > now()) AS running,
       count(*) FILTER (WHERE tries < 3 AND until > now()) AS delayed,
       extract(epoch FROM now() - min(until) FILTER (WHERE until <= now() AND tries < 3)) AS oldest_ready
FROM   seen;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* seenq.Peek */
       id, until, tries
FROM   seen
WHERE  until <= now()
AND    tries < 3
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* seenq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* seenq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('until', 'timestamptz'),
               ('tries', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('seen')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* seenq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* seenq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('seen_pkey', 'id', 'id', ''),
               ('seen_expired', 'until', 'until', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('seen')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over; those whose tries are spent are few, and are read and passed over: seen_pkey serves already

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY seen_expired ON seen (until);
