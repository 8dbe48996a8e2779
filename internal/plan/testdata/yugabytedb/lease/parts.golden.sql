-- Package partsq uses the table parts as a queue of jobs on YugabyteDB 2024.2 and later.
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
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table part_claims, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parts_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        YugabyteDB has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, region, seq
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to running, by a row of part_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (region, seq) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit, 2: token Token, 3: worker Worker
WITH /* partsq.Claim */ picked AS (
    SELECT region, seq
    FROM   parts
    WHERE  state = 'N'
    AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= now() AND part_claims.attempts < 3))
    ORDER  BY region, seq
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO part_claims
           (region, seq, token, worker, claimed_until, attempts)
    SELECT picked.region, picked.seq, $2::bpchar, $3::text,
           now() + interval '10 minutes', 1
    FROM   picked
    ON     CONFLICT (region, seq) DO UPDATE
    SET    token = $2,
           worker = $3,
           claimed_until = now() + interval '10 minutes',
           attempts = part_claims.attempts + 1
    WHERE  part_claims.failed_at IS NULL
    AND    part_claims.claimed_until <= now()
    AND    part_claims.attempts < 3
    RETURNING part_claims.region, part_claims.seq, part_claims.token,
              part_claims.claimed_until, part_claims.attempts, part_claims.error
)
SELECT picked.region, picked.seq, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.region = picked.region
       AND leased.seq = picked.seq;

-- sql/claim_1.sql
-- claim: ready to running, by a row of part_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (region, seq) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker
WITH /* partsq.Claim */ picked AS (
    SELECT region, seq
    FROM   parts
    WHERE  state = 'N'
    AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= now() AND part_claims.attempts < 3))
    ORDER  BY region, seq
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO part_claims
           (region, seq, token, worker, claimed_until, attempts)
    SELECT picked.region, picked.seq, $1::bpchar, $2::text,
           now() + interval '10 minutes', 1
    FROM   picked
    ON     CONFLICT (region, seq) DO UPDATE
    SET    token = $1,
           worker = $2,
           claimed_until = now() + interval '10 minutes',
           attempts = part_claims.attempts + 1
    WHERE  part_claims.failed_at IS NULL
    AND    part_claims.claimed_until <= now()
    AND    part_claims.attempts < 3
    RETURNING part_claims.region, part_claims.seq, part_claims.token,
              part_claims.claimed_until, part_claims.attempts, part_claims.error
)
SELECT picked.region, picked.seq, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.region = picked.region
       AND leased.seq = picked.seq;

-- sql/claim_100.sql
-- claim: ready to running, by a row of part_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (region, seq) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker
WITH /* partsq.Claim */ picked AS (
    SELECT region, seq
    FROM   parts
    WHERE  state = 'N'
    AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= now() AND part_claims.attempts < 3))
    ORDER  BY region, seq
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO part_claims
           (region, seq, token, worker, claimed_until, attempts)
    SELECT picked.region, picked.seq, $1::bpchar, $2::text,
           now() + interval '10 minutes', 1
    FROM   picked
    ON     CONFLICT (region, seq) DO UPDATE
    SET    token = $1,
           worker = $2,
           claimed_until = now() + interval '10 minutes',
           attempts = part_claims.attempts + 1
    WHERE  part_claims.failed_at IS NULL
    AND    part_claims.claimed_until <= now()
    AND    part_claims.attempts < 3
    RETURNING part_claims.region, part_claims.seq, part_claims.token,
              part_claims.claimed_until, part_claims.attempts, part_claims.error
)
SELECT picked.region, picked.seq, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.region = picked.region
       AND leased.seq = picked.seq;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token
WITH /* partsq.Complete */ picked AS (
    SELECT parts.region, parts.seq, region_held, seq_held, token_held
    FROM   unnest($1::varchar[], $2::integer[], $3::bpchar[]) AS job (region_held, seq_held, token_held)
           JOIN parts
           ON  parts.region = region_held
           AND parts.seq = seq_held
    WHERE  CASE WHEN parts.state = 'N' THEN true END
    FOR    NO KEY UPDATE OF parts
), leased AS (
    DELETE FROM part_claims
    USING  picked
    WHERE  part_claims.region = picked.region
    AND    part_claims.seq = picked.seq
    AND    CASE WHEN part_claims.token = picked.token_held
                AND    part_claims.failed_at IS NULL THEN true END
    RETURNING part_claims.region, part_claims.seq
)
UPDATE parts
SET    state = 'C'
FROM   leased
WHERE  leased.region = parts.region
AND    leased.seq = parts.seq
RETURNING parts.region, parts.seq;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch Region, 4: batch Seq, 5: batch Token
UPDATE /* partsq.Fail */ part_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       error = $2
FROM   unnest($3::varchar[], $4::integer[], $5::bpchar[]) AS job (region_held, seq_held, token_held)
WHERE  region = region_held
AND    seq = seq_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')) THEN true END
RETURNING region, seq;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token
WITH /* partsq.Fail */ picked AS (
    SELECT parts.region, parts.seq, region_held, seq_held, token_held
    FROM   unnest($1::varchar[], $2::integer[], $3::bpchar[]) AS job (region_held, seq_held, token_held)
           JOIN parts
           ON  parts.region = region_held
           AND parts.seq = seq_held
    WHERE  CASE WHEN parts.state = 'N' THEN true END
    FOR    NO KEY UPDATE OF parts
), leased AS (
    DELETE FROM part_claims
    USING  picked
    WHERE  part_claims.region = picked.region
    AND    part_claims.seq = picked.seq
    AND    CASE WHEN part_claims.token = picked.token_held
                AND    part_claims.failed_at IS NULL THEN true END
    RETURNING part_claims.region, part_claims.seq
)
UPDATE parts
SET    state = 'E'
FROM   leased
WHERE  leased.region = parts.region
AND    leased.seq = parts.seq
RETURNING parts.region, parts.seq;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Region, 3: batch Seq, 4: batch Token
UPDATE /* partsq.Requeue */ part_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       attempts = attempts - 1
FROM   unnest($2::varchar[], $3::integer[], $4::bpchar[]) AS job (region_held, seq_held, token_held)
WHERE  region = region_held
AND    seq = seq_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')) THEN true END
RETURNING region, seq;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token
UPDATE /* partsq.Extend */ part_claims
SET    claimed_until = now() + interval '10 minutes'
FROM   unnest($1::varchar[], $2::integer[], $3::bpchar[]) AS job (region_held, seq_held, token_held)
WHERE  region = region_held
AND    seq = seq_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N')) THEN true END
RETURNING region, seq, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: part_claims_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Recover */ picked AS (
    SELECT region, seq
    FROM   part_claims
    WHERE  failed_at IS NULL
    AND    token IS NOT NULL
    AND    attempts < 3
    AND    (EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'))
    AND    claimed_until <= now()
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE part_claims
SET    token = NULL,
       worker = NULL
FROM   picked
WHERE  part_claims.region = picked.region
AND    part_claims.seq = picked.seq;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (region, seq) WHERE state = 'N'; it reads others as well
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Recover */ picked AS (
    SELECT region, seq
    FROM   parts
    WHERE  state = 'N'
    AND    (EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND part_claims.claimed_until <= now() AND part_claims.attempts >= 3))
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE parts
SET    state = 'E'
FROM   picked
WHERE  parts.region = picked.region
AND    parts.seq = picked.seq;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Recover */ picked AS (
    SELECT region, seq
    FROM   part_claims
    WHERE  (NOT EXISTS (SELECT 1 FROM parts WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND parts.state = 'N'))
    AND    claimed_until <= now()
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM part_claims
USING  picked
WHERE  part_claims.region = picked.region
AND    part_claims.seq = picked.seq;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Redrive */ picked AS (
    SELECT region, seq
    FROM   parts
    WHERE  state = 'E'
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE parts
SET    state = 'N'
FROM   picked
WHERE  parts.region = picked.region
AND    parts.seq = picked.seq;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (region, seq) WHERE state = 'C' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Purge */ picked AS (
    SELECT region, seq
    FROM   parts
    WHERE  state = 'C'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM parts
USING  picked
WHERE  parts.region = picked.region
AND    parts.seq = picked.seq;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (region, seq) WHERE state = 'E' would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* partsq.Purge */ picked AS (
    SELECT region, seq
    FROM   parts
    WHERE  state = 'E'
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM parts
USING  picked
WHERE  parts.region = picked.region
AND    parts.seq = picked.seq;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Region, 2: new Seq
INSERT /* partsq.Enqueue */ INTO parts
       (region, seq, state)
VALUES ($1, $2, 'N')
RETURNING region, seq;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Region, 2: new_batch Seq
INSERT /* partsq.EnqueueMany */ INTO parts
       (region, seq, state)
SELECT region_new, seq_new, 'N'
FROM   unnest($1::varchar[], $2::integer[]) WITH ORDINALITY AS job (region_new, seq_new, job_order)
ORDER  BY job_order
RETURNING region, seq;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(*) FILTER (WHERE parts.state = 'N' AND (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= now() AND part_claims.attempts < 3)) AS ready,
       count(*) FILTER (WHERE parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until > now()) AS running,
       count(*) FILTER (WHERE parts.state = 'N' AND part_claims.token IS NULL AND part_claims.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE parts.state = 'N' AND part_claims.failed_at IS NULL AND part_claims.token IS NOT NULL AND part_claims.claimed_until <= now()) AS expired,
       count(*) FILTER (WHERE parts.state = 'C') AS done,
       count(*) FILTER (WHERE parts.state = 'E') AS failed
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (region, seq) WHERE state = 'N'
SELECT /* partsq.Backlog */
       count(*) FILTER (WHERE (part_claims.region IS NULL OR part_claims.failed_at IS NULL AND part_claims.claimed_until <= now() AND part_claims.attempts < 3)) AS ready,
       count(*) FILTER (WHERE part_claims.token IS NULL AND part_claims.claimed_until > now()) AS delayed
FROM   parts LEFT JOIN part_claims ON part_claims.region = parts.region AND part_claims.seq = parts.seq
WHERE  parts.state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (region, seq) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* partsq.Peek */
       region, seq
FROM   parts
WHERE  state = 'N'
AND    NOT EXISTS (SELECT 1 FROM part_claims WHERE part_claims.region = parts.region AND part_claims.seq = parts.seq AND NOT (part_claims.failed_at IS NULL AND part_claims.claimed_until <= now() AND part_claims.attempts < 3))
ORDER  BY region, seq
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* partsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('region', 'varchar'),
               ('seq', 'integer'),
               ('state', 'char')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('parts')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of part_claims
-- locks: none
SELECT /* partsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('region', 'varchar'),
               ('seq', 'integer'),
               ('token', 'char'),
               ('worker', 'text'),
               ('claimed_until', 'timestamptz'),
               ('attempts', 'integer'),
               ('error', 'text'),
               ('failed_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('part_claims')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* partsq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* partsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('parts_ready', 'region, seq', 'region, seq', 'state=''n''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('parts')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX parts_ready ON parts (region ASC, seq ASC)
WHERE  state = 'N';
