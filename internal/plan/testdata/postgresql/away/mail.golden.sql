-- Package mailq uses the tables mail and mail_running as a queue of jobs on PostgreSQL 18 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (mail_sent)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to mail_running, whose unique key lets one worker have it.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes mail_sent (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates mail_ready and mail_running_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to mail_running, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running, from mail to mail_running
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: (prio DESC, tenant, no)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Who
WITH /* mailq.Claim */ picked AS MATERIALIZED (
    SELECT tenant, no
    FROM   mail
    ORDER  BY prio DESC, tenant, no
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM mail
    USING  picked
    WHERE  mail.tenant = picked.tenant
    AND    mail.no = picked.no
    RETURNING mail.tenant, mail.no, mail.prio, mail.body, mail.count, mail.changes
)
INSERT INTO mail_running
       (customer, number, text, prio, failures, who, since, till, version, kind)
SELECT gone.tenant, gone.no, gone.body, gone.prio, gone.count, $2::text, now(),
       now() + interval '2 minutes', gone.changes + 1, 'mail'
FROM   gone
RETURNING customer, number, text, prio, failures, till, version;

-- sql/claim_1.sql
-- claim: ready to running, from mail to mail_running
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: (prio DESC, tenant, no)
-- isolation: read committed
-- arguments: 1: worker Who
WITH /* mailq.Claim */ picked AS MATERIALIZED (
    SELECT tenant, no
    FROM   mail
    ORDER  BY prio DESC, tenant, no
    LIMIT  1
    FOR    UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM mail
    USING  picked
    WHERE  mail.tenant = picked.tenant
    AND    mail.no = picked.no
    RETURNING mail.tenant, mail.no, mail.prio, mail.body, mail.count, mail.changes
)
INSERT INTO mail_running
       (customer, number, text, prio, failures, who, since, till, version, kind)
SELECT gone.tenant, gone.no, gone.body, gone.prio, gone.count, $1::text, now(),
       now() + interval '2 minutes', gone.changes + 1, 'mail'
FROM   gone
RETURNING customer, number, text, prio, failures, till, version;

-- sql/claim_100.sql
-- claim: ready to running, from mail to mail_running
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: (prio DESC, tenant, no)
-- isolation: read committed
-- arguments: 1: worker Who
WITH /* mailq.Claim */ picked AS MATERIALIZED (
    SELECT tenant, no
    FROM   mail
    ORDER  BY prio DESC, tenant, no
    LIMIT  100
    FOR    UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM mail
    USING  picked
    WHERE  mail.tenant = picked.tenant
    AND    mail.no = picked.no
    RETURNING mail.tenant, mail.no, mail.prio, mail.body, mail.count, mail.changes
)
INSERT INTO mail_running
       (customer, number, text, prio, failures, who, since, till, version, kind)
SELECT gone.tenant, gone.no, gone.body, gone.prio, gone.count, $1::text, now(),
       now() + interval '2 minutes', gone.changes + 1, 'mail'
FROM   gone
RETURNING customer, number, text, prio, failures, till, version;

-- sql/complete.sql
-- complete: running to done; the rows go to mail_sent
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Customer, 2: batch Number, 3: batch Version
WITH /* mailq.Complete */ held AS (
    DELETE FROM mail_running
    USING  unnest($1::integer[], $2::integer[], $3::integer[]) AS job (customer_held, number_held, version_held)
    WHERE  customer = customer_held
    AND    number = number_held
    AND    CASE WHEN version = version_held THEN true END
    RETURNING customer, number
),
added AS (
    INSERT INTO mail_sent
           (tenant, no, at)
    SELECT held.customer, held.number, now()
    FROM   held
)
SELECT customer, number
FROM   held;

-- sql/retry.sql
-- retry: running to ready, one try used; the rows go to mail
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Customer, 2: batch Number, 3: batch Version
WITH /* mailq.Fail */ held AS (
    DELETE FROM mail_running
    USING  unnest($1::integer[], $2::integer[], $3::integer[]) AS job (customer_held, number_held, version_held)
    WHERE  customer = customer_held
    AND    number = number_held
    AND    CASE WHEN version = version_held THEN true END
    RETURNING customer, number, text, prio, failures, version
),
added AS (
    INSERT INTO mail
           (tenant, no, prio, body, count, holder, changes)
    SELECT held.customer, held.number, held.prio, held.text, held.failures + 1, NULL,
           held.version
    FROM   held
)
SELECT customer, number
FROM   held;

-- sql/requeue.sql
-- requeue: running to ready, no try used; the rows go to mail
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Customer, 2: batch Number, 3: batch Version
WITH /* mailq.Requeue */ held AS (
    DELETE FROM mail_running
    USING  unnest($1::integer[], $2::integer[], $3::integer[]) AS job (customer_held, number_held, version_held)
    WHERE  customer = customer_held
    AND    number = number_held
    AND    CASE WHEN version = version_held THEN true END
    RETURNING customer, number, text, prio, failures, version
),
added AS (
    INSERT INTO mail
           (tenant, no, prio, body, count, holder, changes)
    SELECT held.customer, held.number, held.prio, held.text, held.failures, NULL,
           held.version
    FROM   held
)
SELECT customer, number
FROM   held;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: version as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Customer, 2: batch Number, 3: batch Version
UPDATE /* mailq.Extend */ mail_running
SET    till = now() + interval '2 minutes',
       version = version + 1
FROM   unnest($1::integer[], $2::integer[], $3::integer[]) AS job (customer_held, number_held, version_held)
WHERE  customer = customer_held
AND    number = number_held
AND    CASE WHEN version = version_held THEN true END
RETURNING customer, number, till, version;

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (till)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailq.Recover */
       customer, number
FROM   mail_running
WHERE  till <= now()
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to mail before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Customer, 2: batch Number
INSERT /* mailq.Recover */ INTO mail
       (tenant, no, prio, body, count, holder, changes)
SELECT held.customer, held.number, held.prio, held.text, held.failures + 1, NULL,
       held.version
FROM   mail_running AS held,
       unnest($1::integer[], $2::integer[]) AS job (customer_held, number_held)
WHERE  held.customer = customer_held
AND    held.number = number_held;

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Customer, 2: batch Number
DELETE /* mailq.Recover */ FROM mail_running
USING  unnest($1::integer[], $2::integer[]) AS job (customer_held, number_held)
WHERE  customer = customer_held
AND    number = number_held
RETURNING customer, number;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Customer, 2: new Number, 3: new Prio, 4: new Text
INSERT /* mailq.Enqueue */ INTO mail
       (tenant, no, prio, body)
VALUES ($1, $2, coalesce($3::integer, 0), $4)
RETURNING tenant, no;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Customer, 2: new_batch Number, 3: new_batch Prio, 4: new_batch Text
INSERT /* mailq.EnqueueMany */ INTO mail
       (tenant, no, prio, body)
SELECT tenant_new, no_new, coalesce(prio_new, 0), body_new
FROM   unnest($1::integer[], $2::integer[], $3::integer[], $4::text[]) WITH ORDINALITY AS job (tenant_new, no_new, prio_new, body_new, job_order)
ORDER  BY job_order
RETURNING tenant, no;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* mailq.Stats */
       ready,
       running,
       expired
FROM   (
           SELECT count(*) AS ready
           FROM   mail
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running,
                  count(*) FILTER (WHERE till <= now()) AS expired
           FROM   mail_running
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (prio DESC, tenant, no)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailq.Peek */
       tenant, no, prio, body, count, changes
FROM   mail
ORDER  BY prio DESC, tenant, no
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 18'
WHERE  current_setting('server_version_num')::int < 180000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('customer', 'integer'),
               ('number', 'integer'),
               ('text', 'text'),
               ('prio', 'integer'),
               ('failures', 'integer'),
               ('who', 'text'),
               ('since', 'timestamptz'),
               ('till', 'timestamptz'),
               ('version', 'integer'),
               ('kind', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mail_running')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of mail_sent
-- locks: none
SELECT /* mailq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('tenant', 'integer'),
               ('no', 'integer'),
               ('at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mail_sent')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_ready.sql
-- verify: columns of mail
-- locks: none
SELECT /* mailq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('tenant', 'integer'),
               ('no', 'integer'),
               ('prio', 'integer'),
               ('body', 'text'),
               ('count', 'integer'),
               ('holder', 'text'),
               ('changes', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mail')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index_ready.sql
-- verify: index of mail
-- locks: none
SELECT /* mailq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('mail_ready', 'prio desc, tenant, no', 'prio desc, tenant, no', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('mail')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* mailq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('mail_running_expired', 'till', 'till', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('mail_running')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY mail_ready ON mail (prio DESC, tenant, no);

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY mail_running_expired ON mail_running (till);
