-- Package poppedq uses the table jobs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates jobs_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: a claim deletes the rows it takes (strategy=pop), since the status has no done=: done=… or done:=… there keeps them, done=delete on qgen:queue says that they go
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "id"

-- sql/claim_lock.sql
-- claim: reads ready rows, which claim.sql then deletes
-- locks: none of its own; reserve.sql has locked the database for writing
-- index: (id) WHERE status = 'ready'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* poppedq.Claim */
       id, token, lease_till, body_id
FROM   jobs
WHERE  status = 'ready'
ORDER  BY id
LIMIT  ?1;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* poppedq.Claim */ FROM jobs
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/payload.sql
-- payload: what claimed jobs have in bodies, heads
-- locks: none
-- index: the key
-- arguments: 1: batch_all ID
SELECT /* poppedq.Payload */
       jobs.id, b.body, b.status, b.raw, b.made, heads.subject
FROM   jobs
       LEFT JOIN bodies b
       ON  (b.id = jobs.body_id)
       LEFT JOIN heads
       ON  (heads.body_id = jobs.body_id)
WHERE  jobs.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* poppedq.Reserve */ FROM jobs
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Token, 2: new LeaseTill, 3: new BodyID
INSERT /* poppedq.Enqueue */ INTO jobs
       (token, lease_till, body_id)
VALUES (?1, ?2, ?3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Token LeaseTill BodyID
INSERT /* poppedq.EnqueueMany */ INTO jobs
       (token, lease_till, body_id)
SELECT token_new, lease_till_new, body_id_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS token_new,
                  json_extract(value, '$[1]') AS lease_till_new,
                  json_extract(value, '$[2]') AS body_id_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (id) WHERE status = 'ready'
SELECT /* poppedq.Stats */
       count(*) AS ready
FROM   jobs
WHERE  status = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status = 'ready'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* poppedq.Peek */
       id, token, lease_till, body_id
FROM   jobs
WHERE  status = 'ready'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* poppedq.Verify */
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
WITH /* poppedq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('status', 'varchar(10)'),
           ('token', 'varchar(40)'),
           ('lease_till', 'integer'),
           ('body_id', 'bigint')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('jobs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_payload.sql
-- verify: columns of bodies
-- locks: none
WITH /* poppedq.Verify */ want (name, type) AS (
    VALUES ('body', 'text'),
           ('status', 'varchar(10)'),
           ('raw', 'blob'),
           ('made', 'timestamp')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('bodies') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_payload2.sql
-- verify: columns of heads
-- locks: none
WITH /* poppedq.Verify */ want (name, type) AS (
    VALUES ('subject', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('heads') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* poppedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('jobs_ready', 'id', 'id', 'status=''ready''')
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
    FROM   pragma_index_list('jobs') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
-- jobsq advises the same
CREATE INDEX jobs_ready ON jobs (id)
WHERE  status = 'ready';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
