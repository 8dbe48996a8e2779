-- Package channelq uses the table int_channel_message as a queue of jobs on PostgreSQL 10 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: strategy=lease_table is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table int_channel_message_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=lease_table is asked for
-- * lease_table  strategy=lease_table is asked for
--   hold         strategy=lease_table is asked for
--   partition    strategy=lease_table is asked for
--   returning    strategy=lease_table is asked for
--   block        strategy=lease_table is asked for
--   token        strategy=lease_table is asked for
--   lock_update  strategy=lease_table is asked for
--   advisory     strategy=lease_table is asked for
--   guarded      strategy=lease_table is asked for
--   pop          strategy=lease_table is asked for
-- note: no order is said: rows are taken in the order of the key, region, group_key, created_date, message_sequence
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running, by a row of int_channel_message_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (region, group_key, created_date, message_sequence)
-- isolation: read committed
-- arguments: 1: param groupKey string, 2: param region string, 3: limit, 4: token Token, 5: worker Worker
WITH /* channelq.Claim */ picked AS (
    SELECT message_id, group_key, region, message_sequence, created_date, message_bytes
    FROM   int_channel_message
    WHERE  group_key = $1
    AND    region = $2
    AND    NOT EXISTS (SELECT 1 FROM int_channel_message_lease WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence AND NOT (int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now()))
    ORDER  BY region, group_key, created_date, message_sequence
    LIMIT  $3
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO int_channel_message_lease
           (region, group_key, created_date, message_sequence, token, worker, claimed_until,
           attempts)
    SELECT picked.region, picked.group_key, picked.created_date, picked.message_sequence,
           $4::bpchar, $5::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (region, group_key, created_date, message_sequence) DO UPDATE
    SET    token = $4,
           worker = $5,
           claimed_until = now() + interval '5 minutes',
           attempts = int_channel_message_lease.attempts + 1
    WHERE  int_channel_message_lease.failed_at IS NULL
    AND    int_channel_message_lease.claimed_until <= now()
    RETURNING int_channel_message_lease.region, int_channel_message_lease.group_key,
              int_channel_message_lease.created_date,
              int_channel_message_lease.message_sequence, int_channel_message_lease.token,
              int_channel_message_lease.claimed_until, int_channel_message_lease.attempts,
              int_channel_message_lease.error
)
SELECT picked.message_id, picked.group_key, picked.region, picked.message_sequence,
       picked.created_date, picked.message_bytes, leased.token, leased.claimed_until,
       leased.attempts, leased.error
FROM   leased
       JOIN picked
       ON  leased.region = picked.region
       AND leased.group_key = picked.group_key
       AND leased.created_date = picked.created_date
       AND leased.message_sequence = picked.message_sequence;

-- sql/claim_1.sql
-- claim: ready to running, by a row of int_channel_message_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (region, group_key, created_date, message_sequence)
-- isolation: read committed
-- arguments: 1: param groupKey string, 2: param region string, 3: token Token, 4: worker Worker
WITH /* channelq.Claim */ picked AS (
    SELECT message_id, group_key, region, message_sequence, created_date, message_bytes
    FROM   int_channel_message
    WHERE  group_key = $1
    AND    region = $2
    AND    NOT EXISTS (SELECT 1 FROM int_channel_message_lease WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence AND NOT (int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now()))
    ORDER  BY region, group_key, created_date, message_sequence
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO int_channel_message_lease
           (region, group_key, created_date, message_sequence, token, worker, claimed_until,
           attempts)
    SELECT picked.region, picked.group_key, picked.created_date, picked.message_sequence,
           $3::bpchar, $4::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (region, group_key, created_date, message_sequence) DO UPDATE
    SET    token = $3,
           worker = $4,
           claimed_until = now() + interval '5 minutes',
           attempts = int_channel_message_lease.attempts + 1
    WHERE  int_channel_message_lease.failed_at IS NULL
    AND    int_channel_message_lease.claimed_until <= now()
    RETURNING int_channel_message_lease.region, int_channel_message_lease.group_key,
              int_channel_message_lease.created_date,
              int_channel_message_lease.message_sequence, int_channel_message_lease.token,
              int_channel_message_lease.claimed_until, int_channel_message_lease.attempts,
              int_channel_message_lease.error
)
SELECT picked.message_id, picked.group_key, picked.region, picked.message_sequence,
       picked.created_date, picked.message_bytes, leased.token, leased.claimed_until,
       leased.attempts, leased.error
FROM   leased
       JOIN picked
       ON  leased.region = picked.region
       AND leased.group_key = picked.group_key
       AND leased.created_date = picked.created_date
       AND leased.message_sequence = picked.message_sequence;

-- sql/claim_100.sql
-- claim: ready to running, by a row of int_channel_message_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (region, group_key, created_date, message_sequence)
-- isolation: read committed
-- arguments: 1: param groupKey string, 2: param region string, 3: token Token, 4: worker Worker
WITH /* channelq.Claim */ picked AS (
    SELECT message_id, group_key, region, message_sequence, created_date, message_bytes
    FROM   int_channel_message
    WHERE  group_key = $1
    AND    region = $2
    AND    NOT EXISTS (SELECT 1 FROM int_channel_message_lease WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence AND NOT (int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now()))
    ORDER  BY region, group_key, created_date, message_sequence
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO int_channel_message_lease
           (region, group_key, created_date, message_sequence, token, worker, claimed_until,
           attempts)
    SELECT picked.region, picked.group_key, picked.created_date, picked.message_sequence,
           $3::bpchar, $4::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (region, group_key, created_date, message_sequence) DO UPDATE
    SET    token = $3,
           worker = $4,
           claimed_until = now() + interval '5 minutes',
           attempts = int_channel_message_lease.attempts + 1
    WHERE  int_channel_message_lease.failed_at IS NULL
    AND    int_channel_message_lease.claimed_until <= now()
    RETURNING int_channel_message_lease.region, int_channel_message_lease.group_key,
              int_channel_message_lease.created_date,
              int_channel_message_lease.message_sequence, int_channel_message_lease.token,
              int_channel_message_lease.claimed_until, int_channel_message_lease.attempts,
              int_channel_message_lease.error
)
SELECT picked.message_id, picked.group_key, picked.region, picked.message_sequence,
       picked.created_date, picked.message_bytes, leased.token, leased.claimed_until,
       leased.attempts, leased.error
FROM   leased
       JOIN picked
       ON  leased.region = picked.region
       AND leased.group_key = picked.group_key
       AND leased.created_date = picked.created_date
       AND leased.message_sequence = picked.message_sequence;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch Region, 2: batch GroupKey, 3: batch CreatedDate, 4: batch MessageSequence, 5: batch Token
WITH /* channelq.Complete */ picked AS (
    SELECT int_channel_message.region, int_channel_message.group_key,
           int_channel_message.created_date, int_channel_message.message_sequence,
           region_held, group_key_held, created_date_held, message_sequence_held,
           token_held
    FROM   unnest($1::varchar[], $2::bpchar[], $3::bigint[], $4::bigint[], $5::bpchar[]) AS job (region_held, group_key_held, created_date_held, message_sequence_held, token_held)
           JOIN int_channel_message
           ON  int_channel_message.region = region_held
           AND int_channel_message.group_key = group_key_held
           AND int_channel_message.created_date = created_date_held
           AND int_channel_message.message_sequence = message_sequence_held
    FOR    UPDATE OF int_channel_message
), leased AS (
    DELETE FROM int_channel_message_lease
    USING  picked
    WHERE  int_channel_message_lease.region = picked.region
    AND    int_channel_message_lease.group_key = picked.group_key
    AND    int_channel_message_lease.created_date = picked.created_date
    AND    int_channel_message_lease.message_sequence = picked.message_sequence
    AND    CASE WHEN int_channel_message_lease.token = picked.token_held
                AND    int_channel_message_lease.failed_at IS NULL THEN true END
    RETURNING int_channel_message_lease.region, int_channel_message_lease.group_key,
              int_channel_message_lease.created_date,
              int_channel_message_lease.message_sequence
)
DELETE FROM int_channel_message
USING  leased
WHERE  leased.region = int_channel_message.region
AND    leased.group_key = int_channel_message.group_key
AND    leased.created_date = int_channel_message.created_date
AND    leased.message_sequence = int_channel_message.message_sequence
RETURNING int_channel_message.region, int_channel_message.group_key,
          int_channel_message.created_date, int_channel_message.message_sequence;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch Region, 2: batch GroupKey, 3: batch CreatedDate, 4: batch MessageSequence, 5: batch Token
WITH /* channelq.Fail */ picked AS (
    SELECT int_channel_message.region, int_channel_message.group_key,
           int_channel_message.created_date, int_channel_message.message_sequence,
           region_held, group_key_held, created_date_held, message_sequence_held,
           token_held
    FROM   unnest($1::varchar[], $2::bpchar[], $3::bigint[], $4::bigint[], $5::bpchar[]) AS job (region_held, group_key_held, created_date_held, message_sequence_held, token_held)
           JOIN int_channel_message
           ON  int_channel_message.region = region_held
           AND int_channel_message.group_key = group_key_held
           AND int_channel_message.created_date = created_date_held
           AND int_channel_message.message_sequence = message_sequence_held
    FOR    UPDATE OF int_channel_message
), leased AS (
    DELETE FROM int_channel_message_lease
    USING  picked
    WHERE  int_channel_message_lease.region = picked.region
    AND    int_channel_message_lease.group_key = picked.group_key
    AND    int_channel_message_lease.created_date = picked.created_date
    AND    int_channel_message_lease.message_sequence = picked.message_sequence
    AND    CASE WHEN int_channel_message_lease.token = picked.token_held
                AND    int_channel_message_lease.failed_at IS NULL THEN true END
    RETURNING int_channel_message_lease.region, int_channel_message_lease.group_key,
              int_channel_message_lease.created_date,
              int_channel_message_lease.message_sequence
)
DELETE FROM int_channel_message
USING  leased
WHERE  leased.region = int_channel_message.region
AND    leased.group_key = int_channel_message.group_key
AND    leased.created_date = int_channel_message.created_date
AND    leased.message_sequence = int_channel_message.message_sequence
RETURNING int_channel_message.region, int_channel_message.group_key,
          int_channel_message.created_date, int_channel_message.message_sequence;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Region, 3: batch GroupKey, 4: batch CreatedDate, 5: batch MessageSequence, 6: batch Token
UPDATE /* channelq.Requeue */ int_channel_message_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       attempts = attempts - 1
FROM   unnest($2::varchar[], $3::bpchar[], $4::bigint[], $5::bigint[], $6::bpchar[]) AS job (region_held, group_key_held, created_date_held, message_sequence_held, token_held)
WHERE  region = region_held
AND    group_key = group_key_held
AND    created_date = created_date_held
AND    message_sequence = message_sequence_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM int_channel_message WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence)) THEN true END
RETURNING region, group_key, created_date, message_sequence;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Region, 2: batch GroupKey, 3: batch CreatedDate, 4: batch MessageSequence, 5: batch Token
UPDATE /* channelq.Extend */ int_channel_message_lease
SET    claimed_until = now() + interval '5 minutes'
FROM   unnest($1::varchar[], $2::bpchar[], $3::bigint[], $4::bigint[], $5::bpchar[]) AS job (region_held, group_key_held, created_date_held, message_sequence_held, token_held)
WHERE  region = region_held
AND    group_key = group_key_held
AND    created_date = created_date_held
AND    message_sequence = message_sequence_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM int_channel_message WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence)) THEN true END
RETURNING region, group_key, created_date, message_sequence, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: int_channel_message_lease_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
WITH /* channelq.Recover */ picked AS (
    SELECT region, group_key, created_date, message_sequence
    FROM   int_channel_message_lease
    WHERE  failed_at IS NULL
    AND    token IS NOT NULL
    AND    (EXISTS (SELECT 1 FROM int_channel_message WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence))
    AND    claimed_until <= now()
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE int_channel_message_lease
SET    token = NULL,
       worker = NULL
FROM   picked
WHERE  int_channel_message_lease.region = picked.region
AND    int_channel_message_lease.group_key = picked.group_key
AND    int_channel_message_lease.created_date = picked.created_date
AND    int_channel_message_lease.message_sequence = picked.message_sequence;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
WITH /* channelq.Recover */ picked AS (
    SELECT region, group_key, created_date, message_sequence
    FROM   int_channel_message_lease
    WHERE  (NOT EXISTS (SELECT 1 FROM int_channel_message WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence))
    AND    claimed_until <= now()
    LIMIT  $1
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM int_channel_message_lease
USING  picked
WHERE  int_channel_message_lease.region = picked.region
AND    int_channel_message_lease.group_key = picked.group_key
AND    int_channel_message_lease.created_date = picked.created_date
AND    int_channel_message_lease.message_sequence = picked.message_sequence;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MessageID, 2: new GroupKey, 3: new Region, 4: new MessageSequence, 5: new CreatedDate, 6: new MessageBytes
INSERT /* channelq.Enqueue */ INTO int_channel_message
       (message_id, group_key, region, message_sequence, created_date, message_bytes)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING region, group_key, created_date, message_sequence;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch MessageID, 2: new_batch GroupKey, 3: new_batch Region, 4: new_batch MessageSequence, 5: new_batch CreatedDate, 6: new_batch MessageBytes
INSERT /* channelq.EnqueueMany */ INTO int_channel_message
       (message_id, group_key, region, message_sequence, created_date, message_bytes)
SELECT message_id_new, group_key_new, region_new, message_sequence_new, created_date_new,
       message_bytes_new
FROM   unnest($1::bpchar[], $2::bpchar[], $3::varchar[], $4::bigint[], $5::bigint[],
              $6::bytea[]) WITH ORDINALITY AS job (message_id_new, group_key_new, region_new, message_sequence_new, created_date_new, message_bytes_new, job_order)
ORDER  BY job_order
RETURNING region, group_key, created_date, message_sequence;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* channelq.Stats */
       count(*) FILTER (WHERE (int_channel_message_lease.region IS NULL OR int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now())) AS ready,
       count(*) FILTER (WHERE int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.token IS NOT NULL AND int_channel_message_lease.claimed_until > now()) AS running,
       count(*) FILTER (WHERE int_channel_message_lease.token IS NULL AND int_channel_message_lease.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.token IS NOT NULL AND int_channel_message_lease.claimed_until <= now()) AS expired
FROM   int_channel_message LEFT JOIN int_channel_message_lease ON int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same group_key and region is for
-- locks: none
-- index: the primary key (region, group_key, created_date, message_sequence)
-- arguments: 1: param groupKey string, 2: param region string
SELECT /* channelq.StatsOf */
       count(*) FILTER (WHERE (int_channel_message_lease.region IS NULL OR int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now())) AS ready,
       count(*) FILTER (WHERE int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.token IS NOT NULL AND int_channel_message_lease.claimed_until > now()) AS running,
       count(*) FILTER (WHERE int_channel_message_lease.token IS NULL AND int_channel_message_lease.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.token IS NOT NULL AND int_channel_message_lease.claimed_until <= now()) AS expired
FROM   int_channel_message LEFT JOIN int_channel_message_lease ON int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence
WHERE  int_channel_message.group_key = $1
AND    int_channel_message.region = $2;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by group_key and region
-- locks: none
-- index: none; it reads the whole table
SELECT /* channelq.Backlog */
       int_channel_message.group_key,
       int_channel_message.region,
       count(*) FILTER (WHERE (int_channel_message_lease.region IS NULL OR int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now())) AS ready,
       count(*) FILTER (WHERE int_channel_message_lease.token IS NULL AND int_channel_message_lease.claimed_until > now()) AS delayed
FROM   int_channel_message LEFT JOIN int_channel_message_lease ON int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence
GROUP  BY int_channel_message.group_key, int_channel_message.region
HAVING count(*) FILTER (WHERE (int_channel_message_lease.region IS NULL OR int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now())) > 0
OR     count(*) FILTER (WHERE int_channel_message_lease.token IS NULL AND int_channel_message_lease.claimed_until > now()) > 0
ORDER  BY int_channel_message.group_key, int_channel_message.region;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (region, group_key, created_date, message_sequence)
-- isolation: read committed
-- arguments: 1: param groupKey string, 2: param region string, 3: limit
SELECT /* channelq.Peek */
       message_id, group_key, region, message_sequence, created_date, message_bytes
FROM   int_channel_message
WHERE  group_key = $1
AND    region = $2
AND    NOT EXISTS (SELECT 1 FROM int_channel_message_lease WHERE int_channel_message_lease.region = int_channel_message.region AND int_channel_message_lease.group_key = int_channel_message.group_key AND int_channel_message_lease.created_date = int_channel_message.created_date AND int_channel_message_lease.message_sequence = int_channel_message.message_sequence AND NOT (int_channel_message_lease.failed_at IS NULL AND int_channel_message_lease.claimed_until <= now()))
ORDER  BY region, group_key, created_date, message_sequence
LIMIT  $3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* channelq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 10'
WHERE  current_setting('server_version_num')::int < 100000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* channelq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('message_id', 'char'),
               ('group_key', 'char'),
               ('region', 'varchar'),
               ('message_sequence', 'bigint'),
               ('created_date', 'bigint'),
               ('message_bytes', 'bytea')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('int_channel_message')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of int_channel_message_lease
-- locks: none
SELECT /* channelq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('region', 'varchar'),
               ('group_key', 'char'),
               ('created_date', 'bigint'),
               ('message_sequence', 'bigint'),
               ('token', 'char'),
               ('worker', 'text'),
               ('claimed_until', 'timestamptz'),
               ('attempts', 'integer'),
               ('error', 'text'),
               ('failed_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('int_channel_message_lease')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* channelq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* channelq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('int_channel_message_pk', 'region, group_key, created_date, message_sequence', 'region, group_key, created_date, message_sequence', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('int_channel_message')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: int_channel_message_pk serves already
