-- Package emailq uses the table email_outbox as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates email_outbox_ready and email_outbox_expired.
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

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Reader, 2: param kind string, 3: limit
UPDATE /* emailq.Claim */ email_outbox
SET    state = 'A',
       lease_till = now() + interval '5 minutes',
       reader = $1,
       tries = tries + 1
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'N'
           AND    (not_before <= now() OR not_before IS NULL)
           AND    kind = $2
           ORDER  BY priority DESC, created_at, msg_id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING msg_id, kind, priority, created_at, not_before, lease_till, reader, tries,
          last_error, body;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Reader, 2: param kind string
UPDATE /* emailq.Claim */ email_outbox
SET    state = 'A',
       lease_till = now() + interval '5 minutes',
       reader = $1,
       tries = tries + 1
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'N'
           AND    (not_before <= now() OR not_before IS NULL)
           AND    kind = $2
           ORDER  BY priority DESC, created_at, msg_id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING msg_id, kind, priority, created_at, not_before, lease_till, reader, tries,
          last_error, body;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: worker Reader, 2: param kind string
UPDATE /* emailq.Claim */ email_outbox
SET    state = 'A',
       lease_till = now() + interval '5 minutes',
       reader = $1,
       tries = tries + 1
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'N'
           AND    (not_before <= now() OR not_before IS NULL)
           AND    kind = $2
           ORDER  BY priority DESC, created_at, msg_id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING msg_id, kind, priority, created_at, not_before, lease_till, reader, tries,
          last_error, body;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch MsgID, 2: batch Tries, 3: batch Reader
UPDATE /* emailq.Complete */ email_outbox
SET    state = 'C',
       lease_till = NULL
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch MsgID, 4: batch Tries, 5: batch Reader
UPDATE /* emailq.Fail */ email_outbox
SET    state = 'N',
       not_before = now() + make_interval(secs => $1),
       lease_till = NULL,
       reader = NULL,
       last_error = $2
FROM   unnest($3::bigint[], $4::integer[], $5::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch MsgID, 3: batch Tries, 4: batch Reader
UPDATE /* emailq.Fail */ email_outbox
SET    state = 'E',
       lease_till = NULL,
       last_error = $1
FROM   unnest($2::bigint[], $3::integer[], $4::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch MsgID, 3: batch Tries, 4: batch Reader
UPDATE /* emailq.Requeue */ email_outbox
SET    state = 'N',
       not_before = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE not_before END,
       lease_till = NULL,
       reader = NULL,
       tries = tries - 1
FROM   unnest($2::bigint[], $3::integer[], $4::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: tries, reader as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch MsgID, 2: batch Tries, 3: batch Reader
UPDATE /* emailq.Extend */ email_outbox
SET    lease_till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (msg_id_held, tries_held, reader_held)
WHERE  msg_id = msg_id_held
AND    CASE WHEN tries = tries_held
            AND    reader = reader_held
            AND    state = 'A' THEN true END
RETURNING msg_id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (lease_till) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* emailq.Recover */ email_outbox
SET    state = 'N',
       lease_till = NULL,
       reader = NULL
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'A'
           AND    tries < 5
           AND    lease_till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (lease_till) WHERE state = 'A'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* emailq.Recover */ email_outbox
SET    state = 'E',
       lease_till = NULL,
       last_error = 'the claim ran out'
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'A'
           AND    tries >= 5
           AND    lease_till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* emailq.Redrive */ email_outbox
SET    state = 'N',
       lease_till = NULL,
       reader = NULL,
       tries = 0
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'E'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (created_at) WHERE state = 'C' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* emailq.Purge */ FROM email_outbox
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'C'
           AND    created_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (created_at) WHERE state = 'E' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* emailq.Purge */ FROM email_outbox
WHERE  msg_id = ANY (ARRAY(
           SELECT msg_id
           FROM   email_outbox
           WHERE  state = 'E'
           AND    created_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new NotBefore, 4: new Body
INSERT /* emailq.Enqueue */ INTO email_outbox
       (kind, priority, created_at, not_before, body)
VALUES ($1, coalesce($2::integer, 0), now(), $3, $4)
RETURNING msg_id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Kind, 2: new_batch Priority, 3: new_batch NotBefore, 4: new_batch Body
INSERT /* emailq.EnqueueMany */ INTO email_outbox
       (kind, priority, created_at, not_before, body)
SELECT kind_new, coalesce(priority_new, 0), now(), not_before_new, body_new
FROM   unnest($1::varchar[], $2::integer[], $3::timestamptz[], $4::jsonb[]) WITH ORDINALITY AS job (kind_new, priority_new, not_before_new, body_new, job_order)
ORDER  BY job_order
RETURNING msg_id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* emailq.Stats */
       count(*) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'C') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'N' AND not_before > now()) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND lease_till <= now()) AS expired,
       extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* emailq.StatsOf */
       count(*) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'C') AS done,
       count(*) FILTER (WHERE state = 'E') AS failed,
       count(*) FILTER (WHERE state = 'N' AND not_before > now()) AS delayed,
       count(*) FILTER (WHERE state = 'A' AND lease_till <= now()) AS expired,
       extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'N' AND (not_before <= now() OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox
WHERE  kind = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
SELECT /* emailq.Backlog */
       kind,
       count(*) FILTER (WHERE (not_before <= now() OR not_before IS NULL)) AS ready,
       count(*) FILTER (WHERE not_before > now()) AS delayed,
       extract(epoch FROM now() - min(created_at) FILTER (WHERE (not_before <= now() OR not_before IS NULL))) AS oldest_ready
FROM   email_outbox
WHERE  state = 'N'
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, priority DESC, created_at, msg_id) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* emailq.Peek */
       msg_id, kind, priority, created_at, not_before, tries, last_error, body
FROM   email_outbox
WHERE  state = 'N'
AND    (not_before <= now() OR not_before IS NULL)
AND    kind = $1
ORDER  BY priority DESC, created_at, msg_id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* emailq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* emailq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('msg_id', 'bigint'),
               ('state', 'char'),
               ('kind', 'varchar'),
               ('priority', 'integer'),
               ('created_at', 'timestamptz'),
               ('not_before', 'timestamptz'),
               ('lease_till', 'timestamptz'),
               ('reader', 'text'),
               ('tries', 'integer'),
               ('last_error', 'text'),
               ('body', 'jsonb')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('email_outbox')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* emailq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* emailq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('email_outbox_ready', 'kind, priority desc, created_at, msg_id', 'kind, priority desc, created_at, msg_id', 'state=''n'''),
               ('email_outbox_expired', 'lease_till', 'lease_till', 'state=''a''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('email_outbox')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY email_outbox_ready ON email_outbox (kind, priority DESC, created_at, msg_id)
WHERE  state = 'N';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY email_outbox_expired ON email_outbox (lease_till)
WHERE  state = 'A';
