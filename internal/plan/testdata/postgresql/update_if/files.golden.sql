-- Package filesq uses the table files as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates files_ready and files_expired.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, file_id, data_type
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in file_id, data_type (primary key), where (is_deleted = false), and leaves it alone where that does not hold: bucket = {bucket}, pending = 'yes'
-- note: warning: enqueue=update takes a job that runs from its worker, since qgen:on update writes column pending: it may be claimed again while the first still has it, who then gets ErrLost

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (file_id NULLS FIRST, data_type) WHERE pending = 'yes'
-- isolation: read committed
-- arguments: 1: limit
WITH /* filesq.Claim */ picked AS MATERIALIZED (
    SELECT file_id, data_type
    FROM   files
    WHERE  pending = 'yes'
    AND    (is_deleted = false)
    ORDER  BY file_id NULLS FIRST, data_type
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE files
SET    synced = now(),
       pending = 'busy'
FROM   picked
WHERE  files.file_id = picked.file_id
AND    files.data_type = picked.data_type
RETURNING files.file_id, files.data_type, files.bucket, files.synced;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (file_id NULLS FIRST, data_type) WHERE pending = 'yes'
-- isolation: read committed
WITH /* filesq.Claim */ picked AS MATERIALIZED (
    SELECT file_id, data_type
    FROM   files
    WHERE  pending = 'yes'
    AND    (is_deleted = false)
    ORDER  BY file_id NULLS FIRST, data_type
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE files
SET    synced = now(),
       pending = 'busy'
FROM   picked
WHERE  files.file_id = picked.file_id
AND    files.data_type = picked.data_type
RETURNING files.file_id, files.data_type, files.bucket, files.synced;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (file_id NULLS FIRST, data_type) WHERE pending = 'yes'
-- isolation: read committed
WITH /* filesq.Claim */ picked AS MATERIALIZED (
    SELECT file_id, data_type
    FROM   files
    WHERE  pending = 'yes'
    AND    (is_deleted = false)
    ORDER  BY file_id NULLS FIRST, data_type
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE files
SET    synced = now(),
       pending = 'busy'
FROM   picked
WHERE  files.file_id = picked.file_id
AND    files.data_type = picked.data_type
RETURNING files.file_id, files.data_type, files.bucket, files.synced;

-- sql/complete.sql
-- complete: running to done
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced
UPDATE /* filesq.Complete */ files
SET    pending = 'no'
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS job (file_id_held, data_type_held, synced_held)
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    CASE WHEN synced = synced_held
            AND    pending = 'busy' THEN true END
RETURNING file_id, data_type;

-- sql/retry.sql
-- retry: running to ready
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced
UPDATE /* filesq.Fail */ files
SET    synced = NULL,
       pending = 'yes'
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS job (file_id_held, data_type_held, synced_held)
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    CASE WHEN synced = synced_held
            AND    pending = 'busy' THEN true END
RETURNING file_id, data_type;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced
UPDATE /* filesq.Requeue */ files
SET    synced = NULL,
       pending = 'yes'
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS job (file_id_held, data_type_held, synced_held)
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    CASE WHEN synced = synced_held
            AND    pending = 'busy' THEN true END
RETURNING file_id, data_type;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: synced as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced
UPDATE /* filesq.Extend */ files
SET    synced = now()
FROM   unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS job (file_id_held, data_type_held, synced_held)
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    CASE WHEN synced = synced_held
            AND    pending = 'busy' THEN true END
RETURNING file_id, data_type, synced;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (synced) WHERE pending = 'busy'
-- isolation: read committed
-- arguments: 1: limit
WITH /* filesq.Recover */ picked AS MATERIALIZED (
    SELECT file_id, data_type
    FROM   files
    WHERE  pending = 'busy'
    AND    (is_deleted = false)
    AND    synced <= now() - interval '10 minutes'
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
UPDATE files
SET    synced = NULL,
       pending = 'yes'
FROM   picked
WHERE  files.file_id = picked.file_id
AND    files.data_type = picked.data_type;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (synced) WHERE pending = 'no' AND (is_deleted = false) would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
WITH /* filesq.Purge */ picked AS MATERIALIZED (
    SELECT file_id, data_type
    FROM   files
    WHERE  pending = 'no'
    AND    (is_deleted = false)
    AND    synced <= now() - make_interval(secs => $1)
    LIMIT  $2
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM files
USING  picked
WHERE  files.file_id = picked.file_id
AND    files.data_type = picked.data_type;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in file_id, data_type (primary key), where update_if holds for that; else it is left alone, and nothing comes back
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new FileID, 2: new DataType, 3: new Bucket
INSERT /* filesq.Enqueue */ INTO files
       (file_id, data_type, bucket)
VALUES ($1, $2, $3)
ON     CONFLICT (file_id, data_type) DO UPDATE
SET    bucket = excluded.bucket,
       pending = 'yes'
WHERE  (files.is_deleted = false)
RETURNING file_id, data_type;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(*) FILTER (WHERE pending = 'yes') AS ready,
       count(*) FILTER (WHERE pending = 'busy') AS running,
       count(*) FILTER (WHERE pending = 'no') AS done,
       count(*) FILTER (WHERE pending = 'busy' AND synced <= now() - interval '10 minutes') AS expired,
       extract(epoch FROM now() - min(synced) FILTER (WHERE pending = 'busy')) AS oldest_running
FROM   files
WHERE  (is_deleted = false);

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (file_id NULLS FIRST, data_type) WHERE pending = 'yes'; it reads others as well
SELECT /* filesq.Backlog */
       count(*) AS ready
FROM   files
WHERE  pending = 'yes'
AND    (is_deleted = false);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (file_id NULLS FIRST, data_type) WHERE pending = 'yes'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */
       file_id, data_type, bucket
FROM   files
WHERE  pending = 'yes'
AND    (is_deleted = false)
ORDER  BY file_id NULLS FIRST, data_type
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('file_id', 'bigint'),
               ('data_type', 'text'),
               ('bucket', 'text'),
               ('synced', 'timestamptz'),
               ('pending', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files')
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
FROM   (VALUES ('files_ready', 'file_id nulls first, data_type', 'file_id nulls first, data_type', 'pending=''yes'''),
               ('files_expired', 'synced', 'synced', 'pending=''busy''')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX CONCURRENTLY files_ready ON files (file_id NULLS FIRST, data_type)
WHERE  pending = 'yes';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY files_expired ON files (synced)
WHERE  pending = 'busy';
