-- Package mailsq uses the table mails as a queue of jobs on PostgreSQL 18 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Later-----------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready and mails_expired.
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
-- note: on retry, column "run_at" gets [{now} + make_interval(mins => {arg:minutes})] as qgen:on says, not now + {delay} as qgen:due would
-- note: on renew, column "till" gets now + 15m as qgen:on says, not now + 5m as qgen:lease would
-- note: rows are taken as they came, by column "id"; order 1 at column "run_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: given cost int, 2: low, 3: limit
UPDATE /* mailsq.Claim */ mails
SET    state = 1,
       till = now() + interval '5 minutes',
       tries = (tries + $1::integer)
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 0
           AND    (run_at <= now() OR run_at IS NULL)
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_at, till, fails;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: given cost int, 2: low
UPDATE /* mailsq.Claim */ mails
SET    state = 1,
       till = now() + interval '5 minutes',
       tries = (tries + $1::integer)
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 0
           AND    (run_at <= now() OR run_at IS NULL)
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_at, till, fails;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: given cost int, 2: low
UPDATE /* mailsq.Claim */ mails
SET    state = 1,
       till = now() + interval '5 minutes',
       tries = (tries + $1::integer)
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 0
           AND    (run_at <= now() OR run_at IS NULL)
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, run_at, till, fails;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till, 3: batch Cost, 4: batch More
UPDATE /* mailsq.Complete */ mails
SET    state = 2,
       till = NULL,
       tries = (tries + cost_held),
       note = (note || more_held)
FROM   unnest($1::bigint[], $2::timestamptz[], $3::integer[], $4::text[]) AS job (id_held, till_held, cost_held, more_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: given minutes int, 2: batch ID, 3: batch Till
UPDATE /* mailsq.Fail */ mails
SET    state = 0,
       run_at = (now() + make_interval(mins => $1::integer)),
       till = NULL,
       tries = (tries + $1::integer),
       fails = fails + 1
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* mailsq.Fail */ mails
SET    state = 3,
       till = NULL,
       fails = fails + 1
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Till
UPDATE /* mailsq.Requeue */ mails
SET    state = 0,
       run_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE run_at END,
       till = NULL
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* mailsq.Extend */ mails
SET    till = now() + interval '15 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 1 THEN true END
RETURNING id, till;

-- sql/outcome_later.sql
-- outcome_later: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: given delay time.Duration, 2: given cost int, 3: batch ID, 4: batch Till
UPDATE /* mailsq.Later */ mails
SET    state = 0,
       run_at = now() + make_interval(secs => $1::double precision),
       till = NULL,
       tries = (tries + $2::integer)
FROM   unnest($3::bigint[], $4::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 1 THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE state = 1
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 0,
       till = NULL,
       fails = fails + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 1
           AND    fails < 2
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (till) WHERE state = 1
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 3,
       till = NULL,
       fails = fails + 1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 1
           AND    fails >= 2
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: given first int64, 2: limit
UPDATE /* mailsq.Redrive */ mails
SET    state = 0,
       till = NULL,
       fails = 0,
       step = (step + $1::bigint)
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 3
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 2 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 2
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 3 would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mails
           WHERE  state = 3
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Delay, 2: new First
INSERT /* mailsq.Enqueue */ INTO mails
       (run_at, step)
VALUES (now() + make_interval(secs => $1::double precision), ($2::bigint * $2::bigint))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Delay, 2: new_batch First
INSERT /* mailsq.EnqueueMany */ INTO mails
       (run_at, step)
SELECT now() + make_interval(secs => delay_new), (first_new * first_new)
FROM   unnest($1::double precision[], $2::bigint[]) WITH ORDINALITY AS job (delay_new, first_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE state = 0 AND (run_at <= now() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 1) AS running,
       count(*) FILTER (WHERE state = 2) AS done,
       count(*) FILTER (WHERE state = 3) AS failed,
       count(*) FILTER (WHERE state = 0 AND run_at > now()) AS delayed,
       count(*) FILTER (WHERE state = 1 AND till <= now()) AS expired,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE state = 0 AND (run_at <= now() OR run_at IS NULL))) AS oldest_ready
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 0
SELECT /* mailsq.Backlog */
       count(*) FILTER (WHERE (run_at <= now() OR run_at IS NULL)) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(run_at) FILTER (WHERE (run_at <= now() OR run_at IS NULL))) AS oldest_ready
FROM   mails
WHERE  state = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 0
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       id, run_at, fails
FROM   mails
WHERE  state = 0
AND    (run_at <= now() OR run_at IS NULL)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 18'
WHERE  current_setting('server_version_num')::int < 180000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'integer'),
               ('run_at', 'timestamptz'),
               ('till', 'timestamptz'),
               ('tries', 'integer'),
               ('note', 'text'),
               ('fails', 'integer'),
               ('step', 'integer')) AS want (name, type)
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
FROM   (VALUES ('mails_ready', 'id nulls first', 'id nulls first', 'state=0'),
               ('mails_expired', 'till', 'till', 'state=1')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY mails_ready ON mails (id NULLS FIRST)
WHERE  state = 0;

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY mails_expired ON mails (till)
WHERE  state = 1;
