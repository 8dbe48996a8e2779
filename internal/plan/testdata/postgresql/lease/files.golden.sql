-- Package filesq uses the table files as a queue of jobs on PostgreSQL 14 and later.
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
-- Claims are rows of the table file_claims, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates files_ready.
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
-- note: no order is said: rows are taken in the order of the key, path; order 1 at column "not_before" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running, by a row of file_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (path NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit, 2: token Token, 3: worker Worker
WITH /* filesq.Claim */ picked AS MATERIALIZED (
    SELECT path, not_before
    FROM   files
    WHERE  state = 'N'
    AND    (not_before <= now() OR not_before IS NULL)
    AND    NOT EXISTS (SELECT 1 FROM file_claims WHERE file_claims.path = files.path AND NOT (file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3))
    ORDER  BY path NULLS FIRST
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO file_claims
           (path, token, worker, claimed_until, attempts)
    SELECT picked.path, $2::bpchar, $3::text, now() + interval '10 minutes', 1
    FROM   picked
    ON     CONFLICT (path) DO UPDATE
    SET    token = $2,
           worker = $3,
           claimed_until = now() + interval '10 minutes',
           attempts = file_claims.attempts + 1
    WHERE  file_claims.failed_at IS NULL
    AND    file_claims.claimed_until <= now()
    AND    file_claims.attempts < 3
    RETURNING file_claims.path, file_claims.token, file_claims.claimed_until,
              file_claims.attempts, file_claims.error
)
SELECT picked.path, picked.not_before, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.path = picked.path;

-- sql/claim_1.sql
-- claim: ready to running, by a row of file_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (path NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker
WITH /* filesq.Claim */ picked AS MATERIALIZED (
    SELECT path, not_before
    FROM   files
    WHERE  state = 'N'
    AND    (not_before <= now() OR not_before IS NULL)
    AND    NOT EXISTS (SELECT 1 FROM file_claims WHERE file_claims.path = files.path AND NOT (file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3))
    ORDER  BY path NULLS FIRST
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO file_claims
           (path, token, worker, claimed_until, attempts)
    SELECT picked.path, $1::bpchar, $2::text, now() + interval '10 minutes', 1
    FROM   picked
    ON     CONFLICT (path) DO UPDATE
    SET    token = $1,
           worker = $2,
           claimed_until = now() + interval '10 minutes',
           attempts = file_claims.attempts + 1
    WHERE  file_claims.failed_at IS NULL
    AND    file_claims.claimed_until <= now()
    AND    file_claims.attempts < 3
    RETURNING file_claims.path, file_claims.token, file_claims.claimed_until,
              file_claims.attempts, file_claims.error
)
SELECT picked.path, picked.not_before, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.path = picked.path;

-- sql/claim_100.sql
-- claim: ready to running, by a row of file_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (path NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: token Token, 2: worker Worker
WITH /* filesq.Claim */ picked AS MATERIALIZED (
    SELECT path, not_before
    FROM   files
    WHERE  state = 'N'
    AND    (not_before <= now() OR not_before IS NULL)
    AND    NOT EXISTS (SELECT 1 FROM file_claims WHERE file_claims.path = files.path AND NOT (file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3))
    ORDER  BY path NULLS FIRST
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO file_claims
           (path, token, worker, claimed_until, attempts)
    SELECT picked.path, $1::bpchar, $2::text, now() + interval '10 minutes', 1
    FROM   picked
    ON     CONFLICT (path) DO UPDATE
    SET    token = $1,
           worker = $2,
           claimed_until = now() + interval '10 minutes',
           attempts = file_claims.attempts + 1
    WHERE  file_claims.failed_at IS NULL
    AND    file_claims.claimed_until <= now()
    AND    file_claims.attempts < 3
    RETURNING file_claims.path, file_claims.token, file_claims.claimed_until,
              file_claims.attempts, file_claims.error
)
SELECT picked.path, picked.not_before, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.path = picked.path;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch Path, 2: batch Token
WITH /* filesq.Complete */ picked AS MATERIALIZED (
    SELECT files.path, path_held, token_held
    FROM   unnest($1::text[], $2::bpchar[]) AS job (path_held, token_held)
           JOIN files
           ON  files.path = path_held
    WHERE  CASE WHEN files.state = 'N' THEN true END
    FOR    NO KEY UPDATE OF files
), leased AS (
    DELETE FROM file_claims
    USING  picked
    WHERE  file_claims.path = ANY ($1::text[])
    AND    file_claims.path = picked.path
    AND    CASE WHEN file_claims.token = picked.token_held
                AND    file_claims.failed_at IS NULL THEN true END
    RETURNING file_claims.path
)
UPDATE files
SET    state = 'C',
       done_at = now()
FROM   leased
WHERE  leased.path = files.path
RETURNING files.path;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: error, 3: batch Path, 4: batch Token
UPDATE /* filesq.Fail */ file_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       error = $2
FROM   unnest($3::text[], $4::bpchar[]) AS job (path_held, token_held)
WHERE  path = ANY ($3::text[])
AND    path = path_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM files WHERE file_claims.path = files.path AND files.state = 'N')) THEN true END
RETURNING path;

-- sql/fail.sql
-- fail: running to failed
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch Path, 2: batch Token
WITH /* filesq.Fail */ picked AS MATERIALIZED (
    SELECT files.path, path_held, token_held
    FROM   unnest($1::text[], $2::bpchar[]) AS job (path_held, token_held)
           JOIN files
           ON  files.path = path_held
    WHERE  CASE WHEN files.state = 'N' THEN true END
    FOR    NO KEY UPDATE OF files
), leased AS (
    DELETE FROM file_claims
    USING  picked
    WHERE  file_claims.path = ANY ($1::text[])
    AND    file_claims.path = picked.path
    AND    CASE WHEN file_claims.token = picked.token_held
                AND    file_claims.failed_at IS NULL THEN true END
    RETURNING file_claims.path
)
UPDATE files
SET    state = 'E'
FROM   leased
WHERE  leased.path = files.path
RETURNING files.path;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch Path, 3: batch Token
UPDATE /* filesq.Requeue */ file_claims
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + make_interval(secs => $1),
       attempts = attempts - 1
FROM   unnest($2::text[], $3::bpchar[]) AS job (path_held, token_held)
WHERE  path = ANY ($2::text[])
AND    path = path_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM files WHERE file_claims.path = files.path AND files.state = 'N')) THEN true END
RETURNING path;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Path, 2: batch Token
UPDATE /* filesq.Extend */ file_claims
SET    claimed_until = now() + interval '10 minutes'
FROM   unnest($1::text[], $2::bpchar[]) AS job (path_held, token_held)
WHERE  path = ANY ($1::text[])
AND    path = path_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM files WHERE file_claims.path = files.path AND files.state = 'N')) THEN true END
RETURNING path, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: file_claims_expired (failed_at, claimed_until); it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* filesq.Recover */ file_claims
SET    token = NULL,
       worker = NULL
WHERE  path = ANY (ARRAY(
           SELECT path
           FROM   file_claims
           WHERE  failed_at IS NULL
           AND    token IS NOT NULL
           AND    attempts < 3
           AND    (EXISTS (SELECT 1 FROM files WHERE file_claims.path = files.path AND files.state = 'N'))
           AND    claimed_until <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (path NULLS FIRST) WHERE state = 'N'; it reads others as well
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* filesq.Recover */ files
SET    state = 'E'
WHERE  path = ANY (ARRAY(
           SELECT path
           FROM   files
           WHERE  state = 'N'
           AND    (EXISTS (SELECT 1 FROM file_claims WHERE file_claims.path = files.path AND file_claims.claimed_until <= now() AND file_claims.attempts >= 3))
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
DELETE /* filesq.Recover */ FROM file_claims
WHERE  path = ANY (ARRAY(
           SELECT path
           FROM   file_claims
           WHERE  (NOT EXISTS (SELECT 1 FROM files WHERE file_claims.path = files.path AND files.state = 'N'))
           AND    claimed_until <= now()
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* filesq.Redrive */ files
SET    state = 'N'
WHERE  path = ANY (ARRAY(
           SELECT path
           FROM   files
           WHERE  state = 'E'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (done_at) WHERE state = 'C' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* filesq.Purge */ FROM files
WHERE  path = ANY (ARRAY(
           SELECT path
           FROM   files
           WHERE  state = 'C'
           AND    done_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (path) WHERE state = 'E' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* filesq.Purge */ FROM files
WHERE  path = ANY (ARRAY(
           SELECT path
           FROM   files
           WHERE  state = 'E'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Path, 2: new NotBefore
INSERT /* filesq.Enqueue */ INTO files
       (path, not_before)
VALUES ($1, $2)
RETURNING path;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Path, 2: new_batch NotBefore
INSERT /* filesq.EnqueueMany */ INTO files
       (path, not_before)
SELECT path_new, not_before_new
FROM   unnest($1::text[], $2::timestamptz[]) WITH ORDINALITY AS job (path_new, not_before_new, job_order)
ORDER  BY job_order
RETURNING path;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(*) FILTER (WHERE files.state = 'N' AND (files.not_before <= now() OR files.not_before IS NULL) AND (file_claims.path IS NULL OR file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3)) AS ready,
       count(*) FILTER (WHERE files.state = 'N' AND file_claims.failed_at IS NULL AND file_claims.token IS NOT NULL AND file_claims.claimed_until > now()) AS running,
       count(*) FILTER (WHERE files.state = 'N' AND file_claims.token IS NULL AND file_claims.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE files.state = 'N' AND file_claims.failed_at IS NULL AND file_claims.token IS NOT NULL AND file_claims.claimed_until <= now()) AS expired,
       count(*) FILTER (WHERE files.state = 'C') AS done,
       count(*) FILTER (WHERE files.state = 'E') AS failed,
       extract(epoch FROM now() - min(files.not_before) FILTER (WHERE files.state = 'N' AND (files.not_before <= now() OR files.not_before IS NULL) AND (file_claims.path IS NULL OR file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3))) AS oldest_ready
FROM   files LEFT JOIN file_claims ON file_claims.path = files.path;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (path NULLS FIRST) WHERE state = 'N'
SELECT /* filesq.Backlog */
       count(*) FILTER (WHERE (files.not_before <= now() OR files.not_before IS NULL) AND (file_claims.path IS NULL OR file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3)) AS ready,
       count(*) FILTER (WHERE file_claims.token IS NULL AND file_claims.claimed_until > now()) AS delayed,
       extract(epoch FROM now() - min(files.not_before) FILTER (WHERE (files.not_before <= now() OR files.not_before IS NULL) AND (file_claims.path IS NULL OR file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3))) AS oldest_ready
FROM   files LEFT JOIN file_claims ON file_claims.path = files.path
WHERE  files.state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (path NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */
       path, not_before
FROM   files
WHERE  state = 'N'
AND    (not_before <= now() OR not_before IS NULL)
AND    NOT EXISTS (SELECT 1 FROM file_claims WHERE file_claims.path = files.path AND NOT (file_claims.failed_at IS NULL AND file_claims.claimed_until <= now() AND file_claims.attempts < 3))
ORDER  BY path NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('path', 'text'),
               ('state', 'char'),
               ('not_before', 'timestamptz'),
               ('done_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of file_claims
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('path', 'text'),
               ('token', 'char'),
               ('worker', 'text'),
               ('claimed_until', 'timestamptz'),
               ('attempts', 'integer'),
               ('error', 'text'),
               ('failed_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('file_claims')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* filesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('files_ready', 'path nulls first', 'path nulls first', 'state=''n''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('files')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX CONCURRENTLY files_ready ON files (path NULLS FIRST)
WHERE  state = 'N';
