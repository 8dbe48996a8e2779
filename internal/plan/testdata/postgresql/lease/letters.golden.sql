-- Package lettersq uses the table mail.letters as a queue of jobs on PostgreSQL 14 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table mail.letters_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for

-- sql/claim.sql
-- claim: ready to running, by a row of letters_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit, 3: token Token, 4: worker Worker
WITH /* lettersq.Claim */ picked AS MATERIALIZED (
    SELECT id, kind, priority, posted, body
    FROM   mail.letters
    WHERE  kind = $1
    AND    NOT EXISTS (SELECT 1 FROM mail.letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5))
    ORDER  BY priority DESC, id
    LIMIT  $2
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO mail.letters_lease
           (id, token, worker, claimed_until, attempts)
    SELECT picked.id, $3::bpchar, $4::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (id) DO UPDATE
    SET    token = $3,
           worker = $4,
           claimed_until = now() + interval '5 minutes',
           attempts = letters_lease.attempts + 1
    WHERE  letters_lease.failed_at IS NULL
    AND    letters_lease.claimed_until <= now()
    AND    letters_lease.attempts < 5
    RETURNING letters_lease.id, letters_lease.token, letters_lease.claimed_until,
              letters_lease.attempts, letters_lease.error
)
SELECT picked.id, picked.kind, picked.priority, picked.posted, picked.body, leased.token,
       leased.claimed_until, leased.attempts, leased.error
FROM   leased
       JOIN picked
       ON  leased.id = picked.id;

-- sql/claim_1.sql
-- claim: ready to running, by a row of letters_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: token Token, 3: worker Worker
WITH /* lettersq.Claim */ picked AS MATERIALIZED (
    SELECT id, kind, priority, posted, body
    FROM   mail.letters
    WHERE  kind = $1
    AND    NOT EXISTS (SELECT 1 FROM mail.letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5))
    ORDER  BY priority DESC, id
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO mail.letters_lease
           (id, token, worker, claimed_until, attempts)
    SELECT picked.id, $2::bpchar, $3::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (id) DO UPDATE
    SET    token = $2,
           worker = $3,
           claimed_until = now() + interval '5 minutes',
           attempts = letters_lease.attempts + 1
    WHERE  letters_lease.failed_at IS NULL
    AND    letters_lease.claimed_until <= now()
    AND    letters_lease.attempts < 5
    RETURNING letters_lease.id, letters_lease.token, letters_lease.claimed_until,
              letters_lease.attempts, letters_lease.error
)
SELECT picked.id, picked.kind, picked.priority, picked.posted, picked.body, leased.token,
       leased.claimed_until, leased.attempts, leased.error
FROM   leased
       JOIN picked
       ON  leased.id = picked.id;

-- sql/claim_100.sql
-- claim: ready to running, by a row of letters_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: token Token, 3: worker Worker
WITH /* lettersq.Claim */ picked AS MATERIALIZED (
    SELECT id, kind, priority, posted, body
    FROM   mail.letters
    WHERE  kind = $1
    AND    NOT EXISTS (SELECT 1 FROM mail.letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5))
    ORDER  BY priority DESC, id
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO mail.letters_lease
           (id, token, worker, claimed_until, attempts)
    SELECT picked.id, $2::bpchar, $3::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (id) DO UPDATE
    SET    token = $2,
           worker = $3,
           claimed_until = now() + interval '5 minutes',
           attempts = letters_lease.attempts + 1
    WHERE  letters_lease.failed_at IS NULL
    AND    letters_lease.claimed_until <= now()
    AND    letters_lease.attempts < 5
    RETURNING letters_lease.id, letters_lease.token, letters_lease.claimed_until,
              letters_lease.attempts, letters_lease.error
)
SELECT picked.id, picked.kind, picked.priority, picked.posted, picked.body, leased.token,
       leased.claimed_until, leased.attempts, leased.error
FROM   leased
       JOIN picked
       ON  leased.id = picked.id;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
WITH /* lettersq.Complete */ picked AS MATERIALIZED (
    SELECT letters.id, id_held, token_held
    FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, token_held)
           JOIN mail.letters
           ON  letters.id = id_held
    FOR    UPDATE OF letters
), leased AS (
    DELETE FROM mail.letters_lease
    USING  picked
    WHERE  letters_lease.id = ANY ($1::bigint[])
    AND    letters_lease.id = picked.id
    AND    CASE WHEN letters_lease.token = picked.token_held
                AND    letters_lease.failed_at IS NULL THEN true END
    RETURNING letters_lease.id
)
DELETE FROM mail.letters
USING  leased
WHERE  leased.id = letters.id
RETURNING letters.id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch ID, 4: batch Token
UPDATE /* lettersq.Fail */ mail.letters_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       error = $2
FROM   unnest($3::bigint[], $4::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($3::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id)) THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: error, 2: batch ID, 3: batch Token
UPDATE /* lettersq.Fail */ mail.letters_lease
SET    token = NULL,
       worker = NULL,
       error = $1,
       failed_at = now()
FROM   unnest($2::bigint[], $3::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($2::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id)) THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Token
UPDATE /* lettersq.Requeue */ mail.letters_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       attempts = attempts - 1
FROM   unnest($2::bigint[], $3::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($2::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id)) THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* lettersq.Extend */ mail.letters_lease
SET    claimed_until = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($1::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id)) THEN true END
RETURNING id, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ mail.letters_lease
SET    token = NULL,
       worker = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mail.letters_lease
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 5
           AND    (EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ mail.letters_lease
SET    token = NULL,
       worker = NULL,
       error = 'the claim ran out',
       failed_at = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mail.letters_lease
           WHERE  failed_at IS NULL
           AND    attempts >= 5
           AND    (EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Recover */ FROM mail.letters_lease
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mail.letters_lease
           WHERE  (NOT EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id))
           AND    claimed_until <= now()
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until)
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Redrive */ FROM mail.letters_lease
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mail.letters_lease
           WHERE  failed_at IS NOT NULL
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* lettersq.Purge */ FROM mail.letters
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mail.letters
           WHERE  EXISTS (SELECT 1 FROM mail.letters_lease WHERE letters_lease.id = letters.id AND letters_lease.failed_at IS NOT NULL AND letters_lease.failed_at <= now() - make_interval(secs => $1))
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_left.sql
-- purge_left: the claims of the rows that purge_failed.sql deleted, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: letters_lease_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* lettersq.Purge */ FROM mail.letters_lease
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   mail.letters_lease
           WHERE  failed_at IS NOT NULL
           AND    failed_at <= now() - make_interval(secs => $1)
           AND    (NOT EXISTS (SELECT 1 FROM mail.letters WHERE letters_lease.id = letters.id))
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new Body
INSERT /* lettersq.Enqueue */ INTO mail.letters
       (kind, priority, posted, body)
VALUES ($1, coalesce($2::integer, 0), now(), $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Kind, 2: new_batch Priority, 3: new_batch Body
INSERT /* lettersq.EnqueueMany */ INTO mail.letters
       (kind, priority, posted, body)
SELECT kind_new, coalesce(priority_new, 0), now(), body_new
FROM   unnest($1::varchar[], $2::integer[], $3::text[]) WITH ORDINALITY AS job (kind_new, priority_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > now()) AS running,
       count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= now()) AS expired,
       count(*) FILTER (WHERE letters_lease.failed_at IS NOT NULL) AS failed,
       extract(epoch FROM now() - min(letters.posted) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5))) AS oldest_ready
FROM   mail.letters LEFT JOIN mail.letters_lease ON letters_lease.id = letters.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: (kind, priority DESC, id)
-- arguments: 1: param kind string
SELECT /* lettersq.StatsOf */
       count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until > now()) AS running,
       count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE letters_lease.failed_at IS NULL AND letters_lease.token IS NOT NULL AND letters_lease.claimed_until <= now()) AS expired,
       count(*) FILTER (WHERE letters_lease.failed_at IS NOT NULL) AS failed,
       extract(epoch FROM now() - min(letters.posted) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5))) AS oldest_ready
FROM   mail.letters LEFT JOIN mail.letters_lease ON letters_lease.id = letters.id
WHERE  letters.kind = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Backlog */
       letters.kind,
       count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > now()) AS delayed,
       extract(epoch FROM now() - min(letters.posted) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5))) AS oldest_ready
FROM   mail.letters LEFT JOIN mail.letters_lease ON letters_lease.id = letters.id
GROUP  BY letters.kind
HAVING count(*) FILTER (WHERE (letters_lease.id IS NULL OR letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5)) > 0
OR     count(*) FILTER (WHERE letters_lease.token IS NULL AND letters_lease.claimed_until > now()) > 0
ORDER  BY letters.kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, priority DESC, id)
-- isolation: read committed
-- arguments: 1: param kind string, 2: limit
SELECT /* lettersq.Peek */
       id, kind, priority, posted, body
FROM   mail.letters
WHERE  kind = $1
AND    NOT EXISTS (SELECT 1 FROM mail.letters_lease WHERE letters_lease.id = letters.id AND NOT (letters_lease.failed_at IS NULL AND letters_lease.claimed_until <= now() AND letters_lease.attempts < 5))
ORDER  BY priority DESC, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('kind', 'varchar'),
               ('priority', 'integer'),
               ('posted', 'timestamptz'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mail.letters')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of letters_lease
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('token', 'char'),
               ('worker', 'text'),
               ('claimed_until', 'timestamptz'),
               ('attempts', 'integer'),
               ('error', 'text'),
               ('failed_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mail.letters_lease')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* lettersq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('letters_ready', 'kind, priority desc, id', 'kind, priority desc, id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('mail.letters')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY letters_ready ON mail.letters (kind, priority DESC, id);
