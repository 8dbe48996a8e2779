-- Package rated uses the table mails as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Besides the queue's own rows it writes sent (Enqueue), each in the transaction of the operation.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "till" says which rows run (expired=claim)
-- note: no order is said: rows are taken in the order of the key, tenant, message
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where ((select count(*) from sent s where s.tenant = {new}.tenant and s.at > {now} - interval '1 hour') < 100), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it
-- note: enqueue=absent leaves a job out where a row is like it in tenant, message (primary key)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (tenant, message); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: limit
WITH /* rated.Claim */ picked AS MATERIALIZED (
    SELECT tenant, message
    FROM   mails
    WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
    ORDER  BY tenant, message
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE mails
SET    till = now() + interval '5 minutes'
FROM   picked
WHERE  mails.tenant = picked.tenant
AND    mails.message = picked.message
RETURNING mails.tenant, mails.message, mails.body, mails.till;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (tenant, message); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
WITH /* rated.Claim */ picked AS MATERIALIZED (
    SELECT tenant, message
    FROM   mails
    WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
    ORDER  BY tenant, message
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE mails
SET    till = now() + interval '5 minutes'
FROM   picked
WHERE  mails.tenant = picked.tenant
AND    mails.message = picked.message
RETURNING mails.tenant, mails.message, mails.body, mails.till;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (tenant, message); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
WITH /* rated.Claim */ picked AS MATERIALIZED (
    SELECT tenant, message
    FROM   mails
    WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
    ORDER  BY tenant, message
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE mails
SET    till = now() + interval '5 minutes'
FROM   picked
WHERE  mails.tenant = picked.tenant
AND    mails.message = picked.message
RETURNING mails.tenant, mails.message, mails.body, mails.till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till
DELETE /* rated.Complete */ FROM mails
USING  unnest($1::integer[], $2::text[], $3::timestamptz[]) AS job (tenant_held, message_held, till_held)
WHERE  tenant = tenant_held
AND    message = message_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING tenant, message;

-- sql/fail.sql
-- fail: running to failed
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till
DELETE /* rated.Fail */ FROM mails
USING  unnest($1::integer[], $2::text[], $3::timestamptz[]) AS job (tenant_held, message_held, till_held)
WHERE  tenant = tenant_held
AND    message = message_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING tenant, message;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till
UPDATE /* rated.Requeue */ mails
SET    till = NULL
FROM   unnest($1::integer[], $2::text[], $3::timestamptz[]) AS job (tenant_held, message_held, till_held)
WHERE  tenant = tenant_held
AND    message = message_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING tenant, message;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till
UPDATE /* rated.Extend */ mails
SET    till = now() + interval '5 minutes'
FROM   unnest($1::integer[], $2::text[], $3::timestamptz[]) AS job (tenant_held, message_held, till_held)
WHERE  tenant = tenant_held
AND    message = message_held
AND    CASE WHEN till = till_held
            AND    till IS NOT NULL THEN true END
RETURNING tenant, message, till;

-- sql/enqueue_alone.sql
-- enqueue: jobs are added one after the other, so that enqueue_if sees all that are there
-- locks: a number made of the table, until commit
-- index: none; it reads nothing
-- isolation: read committed
SELECT /* rated.EnqueueMany */
       1
FROM   pg_advisory_xact_lock('mails'::regclass::oid::int, hashtext('enqueue'));

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none, unless a row stands in its way by a unique key: then it returns none
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- index: whichever finds the rows of enqueue_if
-- isolation: read committed
-- arguments: 1: new Tenant, 2: new Message, 3: new Body
INSERT /* rated.Enqueue */ INTO mails
       (tenant, message, body)
SELECT $1::integer, $2, $3
WHERE  CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('enqueue_if is asked in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END
AND    ((select count(*) from sent s where s.tenant = $1::integer and s.at > now() - interval '1 hour') < 100)
ON     CONFLICT DO NOTHING
RETURNING tenant, message;

-- sql/enqueue_insert_sent.sql
-- enqueue: inserts rows into sent for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Tenant, 2: batch Message
INSERT /* rated.Enqueue */ INTO sent
       (tenant, at)
SELECT held.tenant, now()
FROM   mails AS held,
       unnest($1::integer[], $2::text[]) AS job (tenant_held, message_held)
WHERE  held.tenant = tenant_held
AND    held.message = message_held;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* rated.Stats */
       count(*) FILTER (WHERE (till <= now() OR till IS NULL)) AS ready,
       count(*) FILTER (WHERE till IS NOT NULL AND till > now()) AS running,
       count(*) FILTER (WHERE till IS NOT NULL AND till <= now()) AS expired
FROM   mails;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (tenant, message); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: limit
SELECT /* rated.Peek */
       tenant, message, body
FROM   mails
WHERE  CASE WHEN till <= now() OR till IS NULL THEN true END
ORDER  BY tenant, message
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* rated.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* rated.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('tenant', 'integer'),
               ('message', 'text'),
               ('body', 'text'),
               ('till', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mails')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of sent
-- locks: none
SELECT /* rated.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('tenant', 'integer'),
               ('at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('sent')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* rated.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* rated.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('mails_pkey', 'tenant, message', 'tenant, message', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted: mails_pkey serves already
