-- Package eventsq uses the table events as a queue of jobs on PostgreSQL 14 and later.
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
-- Claims are rows of the table events_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready.
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
-- note: column "wedge_reason" gets the error of a job that fails for good alone, since a row with one is not ready
-- note: rows are taken as they came, by column "id"

-- sql/claim.sql
-- claim: ready to running, by a row of events_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE wedge_reason IS NULL
-- isolation: read committed
-- arguments: 1: limit, 2: token Token, 3: worker Worker
WITH /* eventsq.Claim */ picked AS MATERIALIZED (
    SELECT id, content
    FROM   events
    WHERE  wedge_reason IS NULL
    AND    NOT EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= now() AND events_lease.attempts < 5))
    ORDER  BY id NULLS FIRST
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO events_lease
           (id, token, worker, claimed_until, attempts)
    SELECT picked.id, $2::bpchar, $3::text, now() + interval '2 minutes', 1
    FROM   picked
    ON     CONFLICT (id) DO UPDATE
    SET    token = $2,
           worker = $3,
           claimed_until = now() + interval '2 minutes',
           attempts = events_lease.attempts + 1
    WHERE  events_lease.failed_at IS NULL
    AND    events_lease.claimed_until <= now()
    AND    events_lease.attempts < 5
    RETURNING events_lease.id, events_lease.token, events_lease.claimed_until,
              events_lease.attempts, events_lease.error
)
SELECT picked.id, picked.content, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.id = picked.id;

-- sql/claim_1.sql
-- claim: ready to running, by a row of events_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE wedge_reason IS NULL
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker
WITH /* eventsq.Claim */ picked AS MATERIALIZED (
    SELECT id, content
    FROM   events
    WHERE  wedge_reason IS NULL
    AND    NOT EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= now() AND events_lease.attempts < 5))
    ORDER  BY id NULLS FIRST
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO events_lease
           (id, token, worker, claimed_until, attempts)
    SELECT picked.id, $1::bpchar, $2::text, now() + interval '2 minutes', 1
    FROM   picked
    ON     CONFLICT (id) DO UPDATE
    SET    token = $1,
           worker = $2,
           claimed_until = now() + interval '2 minutes',
           attempts = events_lease.attempts + 1
    WHERE  events_lease.failed_at IS NULL
    AND    events_lease.claimed_until <= now()
    AND    events_lease.attempts < 5
    RETURNING events_lease.id, events_lease.token, events_lease.claimed_until,
              events_lease.attempts, events_lease.error
)
SELECT picked.id, picked.content, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.id = picked.id;

-- sql/claim_100.sql
-- claim: ready to running, by a row of events_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE wedge_reason IS NULL
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker
WITH /* eventsq.Claim */ picked AS MATERIALIZED (
    SELECT id, content
    FROM   events
    WHERE  wedge_reason IS NULL
    AND    NOT EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= now() AND events_lease.attempts < 5))
    ORDER  BY id NULLS FIRST
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO events_lease
           (id, token, worker, claimed_until, attempts)
    SELECT picked.id, $1::bpchar, $2::text, now() + interval '2 minutes', 1
    FROM   picked
    ON     CONFLICT (id) DO UPDATE
    SET    token = $1,
           worker = $2,
           claimed_until = now() + interval '2 minutes',
           attempts = events_lease.attempts + 1
    WHERE  events_lease.failed_at IS NULL
    AND    events_lease.claimed_until <= now()
    AND    events_lease.attempts < 5
    RETURNING events_lease.id, events_lease.token, events_lease.claimed_until,
              events_lease.attempts, events_lease.error
)
SELECT picked.id, picked.content, leased.token, leased.claimed_until, leased.attempts,
       leased.error
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
WITH /* eventsq.Complete */ picked AS MATERIALIZED (
    SELECT events.id, id_held, token_held
    FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, token_held)
           JOIN events
           ON  events.id = id_held
    WHERE  CASE WHEN events.wedge_reason IS NULL THEN true END
    FOR    UPDATE OF events
), leased AS (
    DELETE FROM events_lease
    USING  picked
    WHERE  events_lease.id = ANY ($1::bigint[])
    AND    events_lease.id = picked.id
    AND    CASE WHEN events_lease.token = picked.token_held
                AND    events_lease.failed_at IS NULL THEN true END
    RETURNING events_lease.id
)
DELETE FROM events
USING  leased
WHERE  leased.id = events.id
RETURNING events.id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch ID, 4: batch Token
UPDATE /* eventsq.Fail */ events_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       error = $2
FROM   unnest($3::bigint[], $4::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($3::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL)) THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token, 3: error
WITH /* eventsq.Fail */ picked AS MATERIALIZED (
    SELECT events.id, id_held, token_held
    FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, token_held)
           JOIN events
           ON  events.id = id_held
    WHERE  CASE WHEN events.wedge_reason IS NULL THEN true END
    FOR    NO KEY UPDATE OF events
), leased AS (
    DELETE FROM events_lease
    USING  picked
    WHERE  events_lease.id = ANY ($1::bigint[])
    AND    events_lease.id = picked.id
    AND    CASE WHEN events_lease.token = picked.token_held
                AND    events_lease.failed_at IS NULL THEN true END
    RETURNING events_lease.id
)
UPDATE events
SET    wedge_reason = convert_to($3::text, 'UTF8')
FROM   leased
WHERE  leased.id = events.id
RETURNING events.id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Token
UPDATE /* eventsq.Requeue */ events_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       attempts = attempts - 1
FROM   unnest($2::bigint[], $3::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($2::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL)) THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* eventsq.Extend */ events_lease
SET    claimed_until = now() + interval '2 minutes'
FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($1::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL)) THEN true END
RETURNING id, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: events_lease_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ events_lease
SET    token = NULL,
       worker = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events_lease
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 5
           AND    (EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL))
           AND    claimed_until <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE wedge_reason IS NULL; it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ events
SET    wedge_reason = convert_to('the claim ran out'::text, 'UTF8')
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  wedge_reason IS NULL
           AND    (EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND events_lease.claimed_until <= now() AND events_lease.attempts >= 5))
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
DELETE /* eventsq.Recover */ FROM events_lease
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events_lease
           WHERE  (NOT EXISTS (SELECT 1 FROM events WHERE events_lease.id = events.id AND events.wedge_reason IS NULL))
           AND    claimed_until <= now()
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* eventsq.Redrive */ events
SET    wedge_reason = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  wedge_reason IS NOT NULL
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE wedge_reason IS NOT NULL would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   events
           WHERE  wedge_reason IS NOT NULL
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Content
INSERT /* eventsq.Enqueue */ INTO events
       (content)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Content
INSERT /* eventsq.EnqueueMany */ INTO events
       (content)
SELECT content_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (content_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(*) FILTER (WHERE events.wedge_reason IS NULL AND (events_lease.id IS NULL OR events_lease.failed_at IS NULL AND events_lease.claimed_until <= now() AND events_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE events.wedge_reason IS NULL AND events_lease.failed_at IS NULL AND events_lease.token IS NOT NULL AND events_lease.claimed_until > now()) AS running,
       count(*) FILTER (WHERE events.wedge_reason IS NULL AND events_lease.token IS NULL AND events_lease.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE events.wedge_reason IS NULL AND events_lease.failed_at IS NULL AND events_lease.token IS NOT NULL AND events_lease.claimed_until <= now()) AS expired,
       count(*) FILTER (WHERE events.wedge_reason IS NOT NULL) AS failed
FROM   events LEFT JOIN events_lease ON events_lease.id = events.id;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE wedge_reason IS NULL
SELECT /* eventsq.Backlog */
       count(*) FILTER (WHERE (events_lease.id IS NULL OR events_lease.failed_at IS NULL AND events_lease.claimed_until <= now() AND events_lease.attempts < 5)) AS ready,
       count(*) FILTER (WHERE events_lease.token IS NULL AND events_lease.claimed_until > now()) AS delayed
FROM   events LEFT JOIN events_lease ON events_lease.id = events.id
WHERE  events.wedge_reason IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE wedge_reason IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       id, content
FROM   events
WHERE  wedge_reason IS NULL
AND    NOT EXISTS (SELECT 1 FROM events_lease WHERE events_lease.id = events.id AND NOT (events_lease.failed_at IS NULL AND events_lease.claimed_until <= now() AND events_lease.attempts < 5))
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('content', 'text'),
               ('wedge_reason', 'bytea')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('events')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of events_lease
-- locks: none
SELECT /* eventsq.Verify */
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
       ON  have.attrelid = to_regclass('events_lease')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* eventsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('events_ready', 'id nulls first', 'id nulls first', 'wedge_reasonisnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('events')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX CONCURRENTLY events_ready ON events (id NULLS FIRST)
WHERE  wedge_reason IS NULL;
