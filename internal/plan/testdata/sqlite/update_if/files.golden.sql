-- Package filesq uses the table files as a queue of jobs on SQLite 3.38 and later.
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
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates files_ready and files_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, file_id, data_type
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in file_id, data_type (primary key), where (is_deleted = 0), and leaves it alone where that does not hold: bucket = {bucket}, pending = 'yes'
-- note: warning: enqueue=update takes a job that runs from its worker, since qgen:on update writes column pending: it may be claimed again while the first still has it, who then gets ErrLost

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (file_id, data_type) WHERE pending = 'yes' AND is_deleted = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* filesq.Claim */ files
SET    synced = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       pending = 'busy'
WHERE  (file_id, data_type) IN (
           SELECT file_id, data_type
           FROM   files
           WHERE  pending = 'yes'
           AND    (is_deleted = 0)
           ORDER  BY file_id, data_type
           LIMIT  ?1)
RETURNING file_id, data_type, bucket, synced;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (file_id, data_type) WHERE pending = 'yes' AND is_deleted = 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* filesq.Claim */ files
SET    synced = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       pending = 'busy'
WHERE  (file_id, data_type) = (
           SELECT file_id, data_type
           FROM   files
           WHERE  pending = 'yes'
           AND    (is_deleted = 0)
           ORDER  BY file_id, data_type
           LIMIT  1)
RETURNING file_id, data_type, bucket, synced;

-- sql/complete.sql
-- complete: running to done
-- fence: synced as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Complete */ files
SET    pending = 'no'
FROM   (
           SELECT json_extract(value, '$[0]') AS file_id_held,
                  json_extract(value, '$[1]') AS data_type_held,
                  json_extract(value, '$[2]') AS synced_held
           FROM   json_each(?1)
       ) AS job
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    +(synced = synced_held
      AND    pending = 'busy')
RETURNING file_id, data_type;

-- sql/retry.sql
-- retry: running to ready
-- fence: synced as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Fail */ files
SET    synced = NULL,
       pending = 'yes'
FROM   (
           SELECT json_extract(value, '$[0]') AS file_id_held,
                  json_extract(value, '$[1]') AS data_type_held,
                  json_extract(value, '$[2]') AS synced_held
           FROM   json_each(?1)
       ) AS job
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    +(synced = synced_held
      AND    pending = 'busy')
RETURNING file_id, data_type;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: synced as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Requeue */ files
SET    synced = NULL,
       pending = 'yes'
FROM   (
           SELECT json_extract(value, '$[0]') AS file_id_held,
                  json_extract(value, '$[1]') AS data_type_held,
                  json_extract(value, '$[2]') AS synced_held
           FROM   json_each(?1)
       ) AS job
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    +(synced = synced_held
      AND    pending = 'busy')
RETURNING file_id, data_type;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: synced as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all FileID DataType Synced
UPDATE /* filesq.Extend */ files
SET    synced = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS file_id_held,
                  json_extract(value, '$[1]') AS data_type_held,
                  json_extract(value, '$[2]') AS synced_held
           FROM   json_each(?1)
       ) AS job
WHERE  file_id = file_id_held
AND    data_type = data_type_held
AND    +(synced = synced_held
      AND    pending = 'busy')
RETURNING file_id, data_type, synced;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (synced) WHERE pending = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* filesq.Recover */ files
SET    synced = NULL,
       pending = 'yes'
WHERE  (file_id, data_type) IN (
           SELECT file_id, data_type
           FROM   files
           WHERE  pending = 'busy'
           AND    (is_deleted = 0)
           AND    synced <= CAST((julianday('now') - 2440587.5) * 86400000 - 600 * 1000 AS INTEGER)
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (synced) WHERE pending = 'no' AND is_deleted = 0 would find them
-- arguments: 1: older, 2: limit
DELETE /* filesq.Purge */ FROM files
WHERE  (file_id, data_type) IN (
           SELECT file_id, data_type
           FROM   files
           WHERE  pending = 'no'
           AND    (is_deleted = 0)
           AND    synced <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in file_id, data_type (primary key), where update_if holds for that; else it is left alone, and nothing comes back
-- locks: the database for writing, while the statement runs
-- arguments: 1: new FileID, 2: new DataType, 3: new Bucket
INSERT /* filesq.Enqueue */ INTO files
       (file_id, data_type, bucket)
VALUES (?1, ?2, ?3)
ON     CONFLICT (file_id, data_type) DO UPDATE
SET    bucket = excluded.bucket,
       pending = 'yes'
WHERE  (files.is_deleted = 0)
RETURNING file_id, data_type;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(*) FILTER (WHERE pending = 'yes') AS ready,
       count(*) FILTER (WHERE pending = 'busy') AS running,
       count(*) FILTER (WHERE pending = 'no') AS done,
       count(*) FILTER (WHERE pending = 'busy' AND synced <= CAST((julianday('now') - 2440587.5) * 86400000 - 600 * 1000 AS INTEGER)) AS expired,
       ((CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - min(synced) FILTER (WHERE pending = 'busy')) / 1000.0) AS oldest_running
FROM   files
WHERE  (is_deleted = 0);

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (file_id, data_type) WHERE pending = 'yes' AND is_deleted = 0
SELECT /* filesq.Backlog */
       count(*) AS ready
FROM   files
WHERE  pending = 'yes'
AND    (is_deleted = 0);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (file_id, data_type) WHERE pending = 'yes' AND is_deleted = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* filesq.Peek */
       file_id, data_type, bucket
FROM   files
WHERE  pending = 'yes'
AND    (is_deleted = 0)
ORDER  BY file_id, data_type
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* filesq.Verify */ want (name, type) AS (
    VALUES ('file_id', 'BIGINT'),
           ('data_type', 'TEXT'),
           ('bucket', 'TEXT'),
           ('synced', 'BIGINT'),
           ('pending', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('files') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* filesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('files_ready', 'file_id, data_type', 'file_id', 'pending=''yes''andis_deleted=0'),
           ('files_expired', 'synced', 'synced', 'pending=''busy''')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('files') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX files_ready ON files (file_id, data_type)
WHERE  pending = 'yes'
AND    is_deleted = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX files_expired ON files (synced)
WHERE  pending = 'busy';
