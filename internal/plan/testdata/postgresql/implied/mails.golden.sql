-- Package mailsq uses the table mails as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_expired.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: mails_waiting (enqueued, id) WHERE status = 'WAITING' OR status = 'RETRY'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Claim */ mails
SET    status = 'IN_PROCESS',
       claimed = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  status IN ('RETRY', 'WAITING')
           ORDER  BY enqueued, id
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, enqueued, claimed;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: mails_waiting (enqueued, id) WHERE status = 'WAITING' OR status = 'RETRY'
-- isolation: read committed
UPDATE /* mailsq.Claim */ mails
SET    status = 'IN_PROCESS',
       claimed = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  status IN ('RETRY', 'WAITING')
           ORDER  BY enqueued, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, enqueued, claimed;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: mails_waiting (enqueued, id) WHERE status = 'WAITING' OR status = 'RETRY'
-- isolation: read committed
UPDATE /* mailsq.Claim */ mails
SET    status = 'IN_PROCESS',
       claimed = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  status IN ('RETRY', 'WAITING')
           ORDER  BY enqueued, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, enqueued, claimed;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* mailsq.Complete */ mails
SET    status = 'SENT'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    status = 'IN_PROCESS' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* mailsq.Fail */ mails
SET    status = 'ERROR'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    status = 'IN_PROCESS' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* mailsq.Requeue */ mails
SET    status = 'RETRY',
       claimed = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    status = 'IN_PROCESS' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* mailsq.Extend */ mails
SET    claimed = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    status = 'IN_PROCESS' THEN true END
RETURNING id, claimed;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (claimed) WHERE status = 'IN_PROCESS'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    status = 'RETRY',
       claimed = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  status = 'IN_PROCESS'
           AND    claimed <= now() - interval '30 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Redrive */ mails
SET    status = 'RETRY',
       claimed = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  status = 'ERROR'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (claimed) WHERE status = 'SENT' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  status = 'SENT'
           AND    claimed <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (claimed) WHERE status = 'ERROR' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  status = 'ERROR'
           AND    claimed <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Enqueued
INSERT /* mailsq.Enqueue */ INTO mails
       (id, status, enqueued)
VALUES ($1, 'RETRY', $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Enqueued
INSERT /* mailsq.EnqueueMany */ INTO mails
       (id, status, enqueued)
SELECT id_new, 'RETRY', enqueued_new
FROM   unnest($1::bigint[], $2::timestamptz[]) WITH ORDINALITY AS job (id_new, enqueued_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE status IN ('RETRY', 'WAITING')) AS ready,
       count(*) FILTER (WHERE status = 'IN_PROCESS') AS running,
       count(*) FILTER (WHERE status = 'SENT') AS done,
       count(*) FILTER (WHERE status = 'ERROR') AS failed,
       count(*) FILTER (WHERE status = 'IN_PROCESS' AND claimed <= now() - interval '30 minutes') AS expired,
       extract(epoch FROM now() - min(claimed) FILTER (WHERE status = 'IN_PROCESS')) AS oldest_running
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: mails_waiting (enqueued, id) WHERE status = 'WAITING' OR status = 'RETRY'
SELECT /* mailsq.Backlog */
       count(*) AS ready
FROM   mails
WHERE  status IN ('RETRY', 'WAITING');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: mails_waiting (enqueued, id) WHERE status = 'WAITING' OR status = 'RETRY'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, enqueued
FROM   mails
WHERE  status IN ('RETRY', 'WAITING')
ORDER  BY enqueued, id
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
               ('status', 'text'),
               ('enqueued', 'timestamptz'),
               ('claimed', 'timestamptz')) AS want (name, type)
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
FROM   (VALUES ('mails_waiting', 'enqueued, id', 'enqueued, id', 'status=''waiting''orstatus=''retry'''),
               ('mails_expired', 'claimed', 'claimed', 'status=''in_process''')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing: mails_waiting serves already

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY mails_expired ON mails (claimed)
WHERE  status = 'IN_PROCESS';
